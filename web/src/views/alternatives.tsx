// How else an input could be cut, with what a step would take if everything else adapts.
import { useEffect, useState } from "preact/hooks";
import { attempt, autoshard } from "../client";
import type { Weighing } from "@autoshard/client/answers";
import { bytes, seconds } from "../model";
import { go, subject } from "../state";
import { Bar } from "../ui/parts";

export function Alternatives({ value }: { value: string }) {
  const [w, setW] = useState<Weighing>();
  const request = subject.value?.request;
  useEffect(() => {
    if (request) void attempt(`Weighing ${value}`, async () => setW((await autoshard.weighPlan({ plan: await request(), value })).weighing));
  }, [value]);
  if (!w) return <p class="quiet">Planning with each other sharding of {value} …</p>;
  const rows = [{ ...w.now!, now: true }, ...w.others.map((o) => ({ ...o, now: false }))];
  const most = Math.max(...rows.filter((x) => !x.refused).map((x) => x.seconds));
  return (
    <table><caption>{value} {w.type} cut otherwise</caption><thead><tr><th>sharding</th><th class="n">step</th><th></th><th class="n">memory</th><th class="n">sent</th><th class="n">others cut otherwise</th><th></th></tr></thead><tbody>
      {rows.map((x, i) => x.refused ? <tr key={i}><td>{x.spec}</td><td colSpan={6} class="quiet">{x.refused}</td></tr>
        : <tr key={i} class={x.now ? "current" : ""}><td>{x.spec}{x.now && <span class="badge">now</span>}</td><td class="n">{seconds(x.seconds)}</td><td><Bar part={x.seconds / most} /></td><td class="n">{bytes(Number(x.peakBytes))}</td><td class="n">{bytes(Number(x.sentBytes))}</td><td class="n">{x.moved}</td>
          <td>{!x.now && <button class="link" onClick={() => go({ pins: `${value}=${x.spec}` }, "what-if")}>try it</button>}</td></tr>)}
    </tbody></table>
  );
}
