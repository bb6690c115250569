package catalog

// hostTable describes the hosts that instances run on: what families of one
// generation have in common, whatever their memory and price. A host bears the
// name of the family it was first known by.
//
//	cpu      intel and amd are amd64, graviton is arm64 and made by aws
//	MHz      sustained clock speed
//	hv       hypervisor; metal sizes have none
//	tls      whether traffic between instances is encrypted on its way
//	enclave  least vCPUs that a size needs to have for a Nitro enclave
//	nic      ladder of network interfaces and their addresses
//	branch   ladder of branch interfaces
//	network  ladder of network bandwidth, or Mbps
//	ebs      ladder of EBS bandwidth, or Mbps
//	efa      Elastic Fabric Adapters, a ladder written out with commas
const hostTable = `
host      cpu       MHz  hv     tls enclave  nic    branch    network   ebs     efa

a1        graviton  2300 nitro  -   -        nitro  a1        c6g       3500    -
t2        intel     2300 xen    -   -        t2     -         -         -       -
t3        intel     2500 nitro  -   -        t3     -         t3        t3      -
t3a       amd       2200 nitro  -   -        t3a    -         t3        t3      -
t4g       graviton  2500 nitro  -   -        t3     -         t3        t3      -

c4        intel     2900 xen    -   -        nitro  -         m4        c4      -
m4        intel     2400 xen    -   -        m4     -         m4        m4      -
r4        intel     2300 xen    -   -        nitro  -         r4        r4      -
x1        intel     2300 xen    -   -        eight  -         x1e       x1e     -
x1e       intel     2300 xen    -   -        x1e    -         x1e       x1e     -
d2        intel     2400 xen    -   -        nitro  -         m4        c4      -
h1        intel     2300 xen    -   -        h1     -         r4        h1      -

c5        intel     3400 nitro  -   4        nitro  slow      c5        c5      -
c5n       intel     3400 nitro  yes 4        nitro  slow      c5n       c5      36:1
m5        intel     3100 nitro  -   4        nitro  m5        m5        m5      -
m5d       intel     3100 nitro  -   4        nitro  slow      m5        m5      -
m5n       intel     3100 nitro  yes 4        nitro  slow      m5n       m5      96:1
m5zn      intel     4500 nitro  yes 4        z1d    m5zn      c5n       z1d     48:1
r5b       intel     3100 nitro  -   4        nitro  slow      m5        r5b     -
c5a       amd       3300 nitro  yes 4        nitro  slow      c5a       c5a     -
m5a       amd       2500 nitro  -   4        nitro  slow      m5a       m5a     -
m5ad      amd       2200 nitro  -   4        nitro  slow      m5a       m5a     -
z1d       intel     4000 nitro  -   4        z1d    z1d       z1d       z1d     -

c6g       graviton  2500 nitro  -   2        nitro  slow      c6g       c6g     -
c6gn      graviton  2500 nitro  yes 2        nitro  slow      c6gn      c6gn    64:1
x2gd      graviton  2500 nitro  -   2        nitro  a1        c6g       c6g     -
c6i       intel     3500 nitro  yes 4        nitro  fast      c6i       c6i     128:1
c6in      intel     3500 nitro  yes 4        c6in   c6in      c6in      c6in    128:2
c6a       amd       3600 nitro  yes 4        nitro  fast      c6i       c6i     192:1
x2iedn    intel     3500 nitro  yes 4        nitro  x2iedn    x2iedn    x2iedn  128:1
x2iezn    intel     4500 nitro  yes 4        z1d    x2iezn    x2iezn    x2iezn  48:1

c7g       graviton  2600 nitro  yes 2        nitro  slow      c7g       c6i     64:1
c7gn      graviton  2600 nitro  yes -        nitro  slow      c7gn      r5b     64:1
c7i       intel     3200 nitro  yes 4        nitro  fast      c6i       c6i     192:1
c7i-flex  intel     3200 nitro  yes -        nitro  c7i-flex  c7i-flex  c6i     -
r7iz      intel     3900 nitro  yes 4        nitro  fast      r7iz      r7iz    128:1
c7a       amd       3700 nitro  yes 4        nitro  fast      c6i       c6i     192:1

c8g       graviton  2800 nitro  yes 2        nitro  slow      c7g       c6i     96:1
c8gn      graviton  2800 nitro  yes 2        c8gn   c8gn      c7gn      r5b     64:1,192:2
c8i       intel     3900 nitro  yes 4        c8i    c8i       c8i       c8i     192:1
c8i-flex  intel     3900 nitro  yes -        c8i    c8i-flex  c8i-flex  c6i     -
c8a       amd       4500 nitro  yes 2        c8a    c8a       c8i       c8i     192:1

u-3tb1    intel     2100 nitro  yes -        eight  6         50000     19000   -
u-6tb1    intel     2100 nitro  yes -        nitro  -         100000    38000   -
u7i       intel     1900 nitro  yes -        nitro  107       100000    100000  896:1
u7in      intel     1900 nitro  yes -        u7in   106       200000    100000  896:2

d3        intel     3100 nitro  yes 4        d3     d3        d3        d3      -
d3en      intel     3100 nitro  yes 4        d3en   d3en      d3en      d3      -
i3        intel     2300 xen    -   -        nitro  -         r4        r4      -
i3en      intel     3100 nitro  yes 4        nitro  i3en      i3en      c5      48:1
i4g       graviton  2500 nitro  yes 2        nitro  slow      i4i       c6i     64:1
i4i       intel     3500 nitro  yes 4        i4i    i4i       i4i       c6i     128:1
i7i       intel     2400 nitro  yes 4        nitro  i7i       i7i       c8i     24xlarge:1,192:1
i7ie      intel     3600 nitro  yes 4        i7ie   i7ie      i7ie      c8i     192:1
i8g       graviton  2800 nitro  yes 2        nitro  slow      i7i       c8i     192:1
im4gn     graviton  2500 nitro  yes -        nitro  slow      c6in      r5b     64:1

g3        intel     2300 xen    -   -        nitro  -         g3        r4      -
g4ad      amd       3000 nitro  yes -        g4ad   g4ad      g4ad      c5a     -
g4dn      intel     2500 nitro  yes 4        g4dn   g4dn      g4dn      g4dn    32:1
g5        amd       3300 nitro  yes 4        g5     g5        g5        g5      32:1
g5g       graviton  2500 nitro  -   -        nitro  slow      c6g       c5      -
g6        amd       3400 nitro  yes 4        nitro  fast      g5        g6      32:1
g6e       amd       3400 nitro  yes 4        g6e    g6e       g6e       g6      32:1,96:2,192:4
g6f       amd       3400 nitro  yes 4        g6f    g6f       g5        g6f     -
p2        intel     2300 xen    -   -        eight  -         g3        p2      -
p3        intel     2300 xen    -   -        eight  p3        p3        h1      -
p3dn      intel     2500 nitro  yes 4        nitro  slow      100000    19000   96:1
p4d       intel     3000 nitro  yes 4        nitro  62        400000    19000   96:4
p5        amd       3600 nitro  yes 4        p5     p5        p5        p5      16:1,192:32
p5en      intel     2400 nitro  yes 4        p5en   120       3200000   100000  192:16
inf1      intel     2500 nitro  yes 4        inf1   inf1      inf1      c5      96:1
inf2      amd       3600 nitro  yes 4        nitro  fast      inf2      c8i     -
trn1      intel     3500 nitro  yes -        trn1   trn1      trn1      x2iedn  128:8
trn1n     intel     3500 nitro  yes -        trn1   120       1600000   80000   128:16
trn2      intel     3800 nitro  yes -        trn2   -         3200000   80000   192:16
dl1       intel     3000 nitro  yes 4        nitro  62        400000    19000   96:4
f1        intel     2300 xen    -   -        h1     -         r4        r4      -
vt1       intel     2500 nitro  yes -        nitro  slow      vt1       c5      96:1
`
