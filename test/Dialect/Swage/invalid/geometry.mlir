// RUN: swage-opt %s -split-input-file -verify-diagnostics

// expected-error @+1 {{cluster is 0, but must be in 1..16}}
func.func private @cluster() attributes {geometry = #swage.launch_geometry<blocks = () -> (12), threads = 32, spaces = [], dividers = () -> (), cluster = 0>}

// -----

// expected-error @+1 {{cluster is 32, but must be in 1..16}}
func.func private @cluster_many() attributes {geometry = #swage.launch_geometry<blocks = () -> (64), threads = 32, spaces = [], dividers = () -> (), cluster = 32>}

// -----

// expected-error @+1 {{blocks is affine_map<() -> (12)>, but must be a multiple of cluster, 8}}
func.func private @blocks() attributes {geometry = #swage.launch_geometry<blocks = () -> (12), threads = 32, spaces = [], dividers = () -> (), cluster = 8>}

// -----

// expected-error @+1 {{but must be a multiple of cluster, 4}}
func.func private @runtime_blocks() attributes {geometry = #swage.launch_geometry<blocks = ()[s0] -> (s0 * 2), threads = 32, spaces = [], dividers = () -> (), cluster = 4>}

// -----

// expected-error @+1 {{shared_bytes is 300000, but must be from 0 to 232448}}
func.func private @shared() attributes {geometry = #swage.launch_geometry<blocks = () -> (1), threads = 32, spaces = [], dividers = () -> (), shared_bytes = 300000>}

// -----

// expected-error @+1 {{blocks is affine_map<() -> ()>, but must map sizes to at least one number}}
func.func private @no_blocks() attributes {geometry = #swage.launch_geometry<blocks = () -> (), threads = 32, spaces = [], dividers = () -> ()>}

// -----

// expected-error @+1 {{but must be a multiple of cluster, 4}}
func.func private @every_number_of_blocks() attributes {geometry = #swage.launch_geometry<blocks = ()[s0] -> (s0 * 4, 130), threads = 32, spaces = [], dividers = () -> (), cluster = 4>}

// -----

func.func private @good() attributes {geometry = #swage.launch_geometry<blocks = ()[s0] -> (s0 * 8), threads = 32, spaces = [], dividers = () -> (), cluster = 4, overlap = true, shared_bytes = 60000>}
