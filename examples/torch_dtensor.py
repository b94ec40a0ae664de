"""Shards a PyTorch module over eight processes with DTensor as autoshard plans it:

    pip install ./python "jax==0.12.0" torch && python examples/torch_dtensor.py

The planner reads what JAX lowers, so that the module's computation is written once more for JAX, over the names of its parameters.
"""

import autoshard

WIDTH, HIDDEN, BATCH, WORLD = 32, 128, 16, 8
SHAPES = {"up.weight": (HIDDEN, WIDTH), "up.bias": (HIDDEN,), "down.weight": (WIDTH, HIDDEN), "down.bias": (WIDTH,)}


def forward(params, x):
    import jax

    hidden = jax.nn.relu(x @ params["up.weight"].T + params["up.bias"])
    return x + hidden @ params["down.weight"].T + params["down.bias"]


def make_plan():
    import jax

    shape = lambda *sizes: jax.ShapeDtypeStruct(sizes, "float32")
    params = {name: shape(*sizes) for name, sizes in SHAPES.items()}
    return autoshard.plan(forward, params, shape(BATCH, WIDTH), mesh={"data": 2, "model": 4}, hardware="cpu",
                          pins={"params/up.weight": "P('model', None)", "x": "P('data', None)"})


def worker(rank, placements, store):
    import torch
    import torch.distributed as dist
    from torch.distributed.tensor import distribute_tensor, init_device_mesh

    dist.init_process_group("gloo", init_method=store, rank=rank, world_size=WORLD)
    mesh = init_device_mesh("cpu", (2, 4), mesh_dim_names=("data", "model"))
    torch.manual_seed(0)
    module = torch.nn.ModuleDict({"up": torch.nn.Linear(WIDTH, HIDDEN), "down": torch.nn.Linear(HIDDEN, WIDTH)})
    x = torch.randn(BATCH, WIDTH)
    run = lambda x: x + module["down"](torch.relu(module["up"](x)))
    expected = run(x)
    for name, parameter in list(module.named_parameters()):
        layer, kind = name.split(".")
        module[layer].register_parameter(kind, torch.nn.Parameter(distribute_tensor(parameter.data, mesh, placements[name])))
    sharded = run(distribute_tensor(x, mesh, placements["x"])).full_tensor()
    torch.testing.assert_close(sharded, expected, rtol=1e-4, atol=1e-5)
    print(f"process {rank}: the sharded module equals the unsharded one")
    dist.destroy_process_group()


if __name__ == "__main__":
    import tempfile
    import torch.multiprocessing

    plan = make_plan()
    placements = plan.to_dtensor({**{name: f"params/{name}" for name in SHAPES}, "x": "x"})
    print(repr(plan), placements, sep="\n")
    with tempfile.TemporaryDirectory() as folder:
        torch.multiprocessing.spawn(worker, (placements, f"file://{folder}/store"), nprocs=WORLD)
