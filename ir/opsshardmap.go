package ir

import "strings"

// shardMapOps are the ops of shard_map programs: collectives and casts along axes of a mesh, and scans. What communicates is not pure,
// so that it counts in what a program communicates even where nobody uses it. Package shardmap/typed checks them.
var shardMapOps = map[Kind]opFacts{
	OpShardMapPsum:                 {name: "shard_map.psum", traits: communicates | anyType, attrs: "axes! groups"},
	OpShardMapPmax:                 {name: "shard_map.pmax", traits: communicates | anyType, attrs: "axes! groups"},
	OpShardMapPmin:                 {name: "shard_map.pmin", traits: communicates | anyType, attrs: "axes! groups"},
	OpShardMapAllGather:            {name: "shard_map.all_gather", traits: communicates | anyType, attrs: "axes! dim! groups"},
	OpShardMapAllGatherInvariant:   {name: "shard_map.all_gather_invariant", traits: communicates | anyType, attrs: "axes! dim!"},
	OpShardMapAllGatherReduced:     {name: "shard_map.all_gather_reduced", traits: communicates | anyType, attrs: "axes! dim!"},
	OpShardMapPsumScatter:          {name: "shard_map.psum_scatter", traits: communicates | anyType, attrs: "axes! dim! groups kind"},
	OpShardMapAllToAll:             {name: "shard_map.all_to_all", traits: communicates | anyType, attrs: "axes! concat! groups split!"},
	OpShardMapPpermute:             {name: "shard_map.ppermute", traits: communicates | anyType, attrs: "axes! perm!"},
	OpShardMapPbroadcast:           {name: "shard_map.pbroadcast", traits: communicates | anyType, attrs: "axes! source!"},
	OpShardMapRaggedAllToAll:       {name: "shard_map.ragged_all_to_all", traits: communicates | anyType, attrs: "axes!"},
	OpShardMapPscatter:             {name: "shard_map.pscatter", traits: pure | anyType, attrs: "axes! dim!"},
	OpShardMapAxisIndex:            {name: "shard_map.axis_index", traits: pure | anyType, attrs: "axes!"},
	OpShardMapPvary:                {name: "shard_map.pvary", traits: pure | anyType, attrs: "axes!"},
	OpShardMapPreduced:             {name: "shard_map.preduced", traits: pure | anyType, attrs: "axes!"},
	OpShardMapReducedVaryCast:      {name: "shard_map.reduced_vary_cast", traits: pure | anyType, attrs: "axes!"},
	OpShardMapVaryUnreducedCast:    {name: "shard_map.vary_unreduced_cast", traits: pure | anyType, attrs: "axes! kind"},
	OpShardMapUnreducedPsum:        {name: "shard_map.unreduced_psum", traits: communicates | anyType, attrs: "axes!"},
	OpShardMapUnreducedPmax:        {name: "shard_map.unreduced_pmax", traits: communicates | anyType, attrs: "axes!"},
	OpShardMapUnreducedPmin:        {name: "shard_map.unreduced_pmin", traits: communicates | anyType, attrs: "axes!"},
	OpShardMapUnreducedPsumScatter: {name: "shard_map.unreduced_psum_scatter", traits: communicates | anyType, attrs: "axes! dim!"},
	OpShardMapScan:                 {name: "shard_map.scan", traits: pure | anyType, attrs: "carries! length! reverse"},
}

const shardMap = "shard_map."

// ParseShardMap returns the kind of the op of shard_map programs with that name without its dialect, such as "psum".
func ParseShardMap(name string) (Kind, bool) {
	k, ok := kindByName[shardMap+name]
	return k, ok
}

// IsShardMap says whether the op is one of shard_map programs: a collective or cast along axes of a mesh, or a scan.
func (k Kind) IsShardMap() bool { return k >= OpShardMapPsum && k <= OpShardMapScan }

// ShardMapName returns the name of an op of shard_map programs without its dialect, "" for other ops.
func (k Kind) ShardMapName() string {
	if !k.IsShardMap() {
		return ""
	}
	return strings.TrimPrefix(k.String(), shardMap)
}

// KindNames returns the names that ParseKind knows, in the order of the kinds.
func KindNames() (names []string) {
	for k := OpUnregistered + 1; k < NumKinds; k++ {
		if !k.IsShardMap() {
			names = append(names, k.String())
		}
	}
	return names
}
