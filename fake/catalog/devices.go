package catalog

// deviceTable lists the accelerators of the families that have them. How many a
// size has stands in the family table.
//
//	kind   gpu or neuron; decides between the instance-gpu and the
//	       instance-accelerator labels
//	name   as in the label
//	maker  as in the label; decides the resource that nodes advertise
//	MiB    memory of one device
//	cores  NeuronCores of one device
const deviceTable = `
family  kind    name             maker   MiB     cores

g3      gpu     m60              nvidia  8192    -
g3s     gpu     m60              nvidia  8192    -
g4ad    gpu     radeon-pro-v520  amd     8192    -
g4dn    gpu     t4               nvidia  16384   -
g5      gpu     a10g             nvidia  22888   -
g5g     gpu     t4g              nvidia  16384   -
g6      gpu     l4               nvidia  22888   -
g6e     gpu     l40s             nvidia  45776   -
g6f     gpu     l4               nvidia  22888   -
gr6     gpu     l4               nvidia  22888   -
p2      gpu     k80              nvidia  12288   -
p3      gpu     v100             nvidia  16384   -
p3dn    gpu     v100             nvidia  32768   -
p4d     gpu     a100             nvidia  40960   -
p4de    gpu     a100             nvidia  81920   -
p5      gpu     h100             nvidia  81920   -
p5en    gpu     h200             nvidia  144384  -
dl1     gpu     gaudi-hl-205     habana  32768   -
inf1    neuron  inferentia       aws     -       4
inf2    neuron  inferentia2      aws     -       2
trn1    neuron  trainium         aws     -       2
trn1n   neuron  trainium         aws     -       2
trn2    neuron  trainium2        aws     -       8
`
