package catalog

// familyTable is the catalog: a line a family.
//
//	host    line of hostTable: processor, network and volumes
//	GiB     memory a vCPU
//	USD     on-demand price of two vCPUs an hour, which is what the size large
//	        costs or would cost; a size costs that much a pair of vCPUs
//	disk    ladder of local NVMe disks, or GB
//	buy     o for on-demand, s for spot
//	zones   the zones that have the family, a for the first of the catalog
//	sizes   its sizes, where x is short for xlarge; a size may carry, in this
//	        order, what it does not owe to the rules:
//	          :9     vCPUs. Otherwise medium has 1 and large 2, xlarge has 4,
//	                 2xlarge 8 and so on; metal-24xl is as 24xlarge and metal as
//	                 the largest size before it
//	          ~9     GiB of memory
//	          *9     accelerators; one otherwise in families of deviceTable. The
//	                 share of one is written 1/8
//	          =9.99  USD an hour
//
// Facts are those of us-east-1. Only which zone has what is made up, as AWS
// deals zone letters to accounts at random.
const familyTable = `
family     host      GiB    USD        disk    buy  zones  sizes

t2         t2        4      0.0928     -       os   abcd   nano:1~0.5=0.0058 micro:1~1=0.0116 small:1~2=0.023 medium:2~4=0.0464 large x 2x
t3         t3        4      0.0832     -       os   abcd   nano:2~0.5=0.0052 micro:2~1=0.0104 small:2~2=0.0208 medium:2~4=0.0416 large x 2x
t3a        t3a       4      0.0752     -       os   abcd   nano:2~0.5=0.0047 micro:2~1=0.0094 small:2~2=0.0188 medium:2~4=0.0376 large x 2x
t4g        t4g       4      0.0672     -       os   abcd   nano:2~0.5=0.0042 micro:2~1=0.0084 small:2~2=0.0168 medium:2~4=0.0336 large x 2x

a1         a1        2      0.051      -       os   abc    medium large x 2x 4x metal
m4         m4        4      0.1        -       os   abd    large x 2x 4x 10x 16x
m5         m5        4      0.096      -       os   abcd   large x 2x 4x 8x 12x 16x 24x metal
m5a        m5a       4      0.086      -       os   abcd   large x 2x 4x 8x 12x 16x 24x
m5ad       m5ad      4      0.103      m5d     os   abcd   large x 2x 4x 8x 12x 16x 24x
m5d        m5d       4      0.113      m5d     os   abcd   large x 2x 4x 8x 12x 16x 24x metal
m5n        m5n       4      0.119      -       os   abcd   large x 2x 4x 8x 12x 16x 24x metal
m5dn       m5n       4      0.136      m5d     os   abcd   large x 2x 4x 8x 12x 16x 24x metal
m5zn       m5zn      4      0.1652     -       os   acd    large x 2x 3x 6x 12x metal=4.3605
m6g        c6g       4      0.077      -       os   abcd   medium large x 2x 4x 8x 12x 16x metal=2.6112
m6gd       c6g       4      0.0904     c6gd    os   abcd   medium large x 2x 4x 8x 12x 16x metal=3.0664
m6a        c6a       4      0.0864     -       os   abcd   large x 2x 4x 8x 12x 16x 24x 32x 48x metal
m6i        c6i       4      0.096      -       os   abcd   large x 2x 4x 8x 12x 16x 24x 32x metal
m6id       c6i       4      0.11865    c6gd    os   abcd   large x 2x 4x 8x 12x 16x 24x 32x metal
m6in       c6in      4      0.13923    -       os   abcd   large x 2x 4x 8x 12x 16x 24x 32x metal
m6idn      c6in      4      0.15912    c6gd    os   abd    large x 2x 4x 8x 12x 16x 24x 32x metal
m7g        c7g       4      0.0816     -       os   abcd   medium large x 2x 4x 8x 12x 16x metal
m7gd       c7g       4      0.1068     c6gd    os   abcd   medium large x 2x 4x 8x 12x 16x metal
m7i        c7i       4      0.1008     -       os   abcd   large x 2x 4x 8x 12x 16x 24x metal-24xl=5.32224 48x metal-48xl
m7i-flex   c7i-flex  4      0.09576    -       os   abcd   large x 2x 4x 8x 12x 16x
m7a        c7a       4      0.11592    -       os   abcd   medium large x 2x 4x 8x 12x 16x 24x 32x 48x metal-48xl
m8g        c8g       4      0.08976    -       os   abcd   medium large x 2x 4x 8x 12x 16x 24x metal-24xl=4.73933 48x metal-48xl
m8gd       c8g       4      0.11532    c6gd    os   abcd   medium large x 2x 4x 8x 12x 16x 24x metal-24xl=6.0889 48x metal-48xl
m8i        c8i       4      0.10584    -       os   abcd   large x 2x 4x 8x 12x 16x 24x 32x 48x metal-48xl 96x metal-96xl
m8i-flex   c8i-flex  4      0.10055    -       os   abcd   large x 2x 4x 8x 12x 16x
m8a        c8a       4      0.12172    -       os   abc    medium large x 2x 4x 8x 12x 16x 24x metal-24xl=6.42682 48x metal-48xl

c4         c4        1.875  0.0995     -       os   abd    large=0.1 x 2x 4x 8x:36~60=1.591
c5         c5        2      0.085      -       os   abcd   large x 2x 4x 9x 12x 18x 24x metal
c5a        c5a       2      0.077      -       os   abcd   large x 2x 4x 8x 12x 16x 24x
c5ad       c5a       2      0.086      c5ad    os   abcd   large x 2x 4x 8x 12x 16x 24x
c5d        c5        2      0.096      c5d     os   abcd   large x 2x 4x 9x 12x 18x 24x metal
c5n        c5n       2.625  0.108      -       os   abcd   large x 2x 4x 9x~96 18x~192 metal~192
c6g        c6g       2      0.068      -       os   abcd   medium large x 2x 4x 8x 12x 16x metal=2.3066
c6gd       c6g       2      0.0768     c6gd    os   abcd   medium large x 2x 4x 8x 12x 16x metal=2.6051
c6gn       c6gn      2      0.0864     -       os   abcd   medium large x 2x 4x 8x 12x 16x
c6a        c6a       2      0.0765     -       os   abcd   large x 2x 4x 8x 12x 16x 24x 32x 48x metal
c6i        c6i       2      0.085      -       os   abcd   large x 2x 4x 8x 12x 16x 24x 32x metal
c6id       c6i       2      0.1008     c6gd    os   abcd   large x 2x 4x 8x 12x 16x 24x 32x metal
c6in       c6in      2      0.1134     -       os   abcd   large x 2x 4x 8x 12x 16x 24x 32x metal
c7g        c7g       2      0.0725     -       os   abcd   medium large x 2x 4x 8x 12x 16x metal
c7gd       c7g       2      0.09072    c6gd    os   abcd   medium large x 2x 4x 8x 12x 16x metal
c7gn       c7gn      2      0.1248     -       os   abc    medium large x 2x 4x 8x 12x 16x metal
c7i        c7i       2      0.08925    -       os   abcd   large x 2x 4x 8x 12x 16x 24x metal-24xl=4.7124 48x metal-48xl
c7i-flex   c7i-flex  2      0.08479    -       os   abcd   large x 2x 4x 8x 12x 16x
c7a        c7a       2      0.10264    -       os   abcd   medium large x 2x 4x 8x 12x 16x 24x 32x 48x metal-48xl
c8g        c8g       2      0.07976    -       os   abcd   medium large x 2x 4x 8x 12x 16x 24x metal-24xl=4.21133 48x metal-48xl
c8gd       c8g       2      0.09798    c6gd    os   abcd   medium large x 2x 4x 8x 12x 16x 24x metal-24xl=5.17334 48x metal-48xl
c8gn       c8gn      2      0.1185     -       os   abd    medium large x 2x 4x 8x 12x 16x 24x metal-24xl=6.0293 48x metal-48xl
c8i        c8i       2      0.09371    -       os   abcd   large x 2x 4x 8x 12x 16x 24x 32x 48x metal-48xl=9.89578 96x metal-96xl
c8i-flex   c8i-flex  2      0.08902    -       os   abcd   large x 2x 4x 8x 12x 16x
c8a        c8a       2      0.10777    -       os   abc    medium large x 2x 4x 8x 12x 16x 24x metal-24xl=5.69026 48x metal-48xl

r4         r4        7.625  0.133      -       os   abd    large x 2x 4x 8x 16x
r5         m5        8      0.126      -       os   abcd   large x 2x 4x 8x 12x 16x 24x metal
r5a        m5a       8      0.113      -       os   abcd   large x 2x 4x 8x 12x 16x 24x
r5ad       m5ad      8      0.131      m5d     os   abcd   large x 2x 4x 8x 12x 16x 24x
r5b        r5b       8      0.149      -       os   abcd   large x 2x 4x 8x 12x 16x 24x metal=7.8672
r5d        m5d       8      0.144      m5d     os   abcd   large x 2x 4x 8x 12x 16x 24x metal
r5n        m5n       8      0.149      -       os   abcd   large x 2x 4x 8x 12x 16x 24x metal
r5dn       m5n       8      0.167      m5d     os   abcd   large x 2x 4x 8x 12x 16x 24x metal
r6g        c6g       8      0.1008     -       os   abcd   medium large x 2x 4x 8x 12x 16x metal=3.4191
r6gd       c6g       8      0.1152     c6gd    os   abcd   medium large x 2x 4x 8x 12x 16x metal=3.9076
r6a        c6a       8      0.1134     -       os   abcd   large x 2x 4x 8x 12x 16x 24x 32x 48x metal
r6i        c6i       8      0.126      -       os   abcd   large x 2x 4x 8x 12x 16x 24x 32x metal
r6id       c6i       8      0.1512     c6gd    os   abcd   large x 2x 4x 8x 12x 16x 24x 32x metal
r6in       c6in      8      0.17433    -       os   abcd   large x 2x 4x 8x 12x 16x 24x 32x metal
r6idn      c6in      8      0.19539    c6gd    os   abd    large x 2x 4x 8x 12x 16x 24x 32x metal
r7g        c7g       8      0.1071     -       os   abcd   medium large x 2x 4x 8x 12x 16x metal
r7gd       c7g       8      0.13608    c6gd    os   abcd   medium large x 2x 4x 8x 12x 16x metal
r7i        c7i       8      0.1323     -       os   abcd   large x 2x 4x 8x 12x 16x 24x metal-24xl=6.98544 48x metal-48xl
r7iz       r7iz      8      0.186      -       os   acd    large x 2x 4x 8x 12x 16x metal-16xl=6.5472 32x metal-32xl=13.0944
r7a        c7a       8      0.15215    -       os   abcd   medium large x 2x 4x 8x 12x 16x 24x 32x 48x metal-48xl
r8g        c8g       8      0.11782    -       os   abcd   medium large x 2x 4x 8x 12x 16x 24x metal-24xl=6.2209 48x metal-48xl
r8gd       c8g       8      0.14696    c6gd    os   abcd   medium large x 2x 4x 8x 12x 16x 24x metal-24xl=7.75949 48x metal-48xl
r8i        c8i       8      0.13892    -       os   abcd   large x 2x 4x 8x 12x 16x 24x 32x 48x metal-48xl=14.66995 96x metal-96xl
r8i-flex   c8i-flex  8      0.13197    -       os   abcd   large x 2x 4x 8x 12x 16x
r8a        c8a       8      0.15976    -       os   abc    medium large x 2x 4x 8x 12x 16x 24x metal-24xl=8.43533 48x metal-48xl

x1         x1        15.25  0.20840625 -       os   abd    16x 32x
x1e        x1e       30.5   0.417      -       os   acd    x 2x 4x 8x 16x 32x
x2gd       x2gd      16     0.167      c6gd    os   abcd   medium large x 2x 4x 8x 12x 16x metal=5.8784
x2idn      x2iedn    16     0.20840625 x2iedn  os   abcd   16x 24x 32x metal
x2iedn     x2iedn    32     0.4168125  x2iedn  os   abcd   x 2x 4x 8x 16x 24x 32x metal
x2iezn     x2iezn    32     0.417      -       os   abc    2x 4x 6x 8x 12x metal
x8g        c8g       16     0.1954     -       os   abd    medium large x 2x 4x 8x 12x 16x 24x metal-24xl=10.31712 48x metal-48xl
z1d        z1d       8      0.186      m5d     os   abd    large x 2x 3x 6x 12x metal
u-3tb1     u-3tb1    -      -          -       o    ac     56x~3072=27.3
u-6tb1     u-6tb1    -      -          -       o    ac     56x~6144=46.40391 112x~6144=54.6
u7i-12tb   u7i       -      -          -       o    bd     224x~12288=125.58182
u7in-16tb  u7in      -      -          -       o    bd     224x~16384=180.47558

d2         d2        7.625  0.345      -       os   abd    x 2x 4x 8x:36~244=5.52
d3         d3        8      0.24975    d3      os   abd    x 2x 4x 8x
d3en       d3en      4      0.26286    d3en    os   abd    x 2x 4x 6x 8x 12x
h1         h1        4      0.117      -       os   abc    2x 4x 8x 16x
i3         i3        7.625  0.156      i3      os   abcd   large x 2x 4x 8x 16x metal:72~512=4.992
i3en       i3en      8      0.226      i3en    os   abcd   large x 2x 3x 6x 12x 24x metal
i4g        i4g       8      0.15444    i4i     os   abc    large x 2x 4x 8x 16x
i4i        i4i       8      0.1716     i4i     os   abcd   large x 2x 4x 8x 12x 16x 24x 32x metal
i7i        i7i       8      0.18876    i4i     os   abcd   large x 2x 4x 8x 12x 16x 24x metal-24xl=9.6204 48x metal-48xl=19.2408
i7ie       i7ie      8      0.2599     i3en    os   abc    large x 2x 3x 6x 12x 18x 24x metal-24xl=13.2844 48x metal-48xl=26.5687
i8g        i8g       8      0.1716     i4i     os   abcd   large x 2x 4x 8x 12x 16x 24x metal-24xl=9.06048 48x metal-48xl=18.12096
im4gn      im4gn     4      0.181895   im4gn   os   abc    large x 2x 4x 8x 16x
is4gen     im4gn     6      0.28815    is4gen  os   abc    medium large x 2x 4x 8x

g3         g3        7.625  0.1425     -       os   acd    4x 8x*2 16x*4
g3s        g3        7.625  0.375      -       os   acd    x
g4ad       g4ad      4      0.108375   m5d     os   abd    x=0.37853 2x=0.54117 4x 8x*2 16x*4
g4dn       g4dn      4      0.136      g4dn    os   abcd   x=0.526 2x=0.752 4x=1.204 8x 12x*4=3.912 16x metal:96*8=7.824
g5         g5        4      -          g5      os   abcd   x=1.006 2x=1.212 4x=1.624 8x=2.448 12x*4=5.672 16x=4.096 24x*4=8.144 48x*8=16.288
g5g        g5g       2      0.08575    -       os   abc    x=0.42 2x=0.556 4x=0.828 8x 16x*2 metal*2
g6         g6        4      -          g6      os   abcd   x=0.8048 2x=0.9776 4x=1.3232 8x=2.0144 12x*4=4.6016 16x=3.3968 24x*4=6.6752 48x*8=13.3504
g6e        g6e       8      -          g5      os   abcd   x=1.861 2x=2.24208 4x=3.00424 8x=4.52856 12x*4=10.49264 16x=7.57719 24x*4=15.06559 48x*8=30.13118
g6f        g6f       4      0.11875    g6f     os   abc    large*1/8=0.202 x*1/8 2x*1/4 4x*1/2
gr6        g6        8      -          g6      os   abcd   4x=1.5392 8x=2.4464
p2         p2        15.25  0.45       -       os   ab     x 8x*8 16x~732*16
p3         p3        7.625  0.765      -       os   acd    2x 8x*4 16x*8
p3dn       p3dn      8      -          1800    os   cd     24x*8=31.212
p4d        p4d       12     -          8000    os   abd    24x*8=21.957642
p4de       p4d       12     -          8000    os   bc     24x*8=27.44705
p5         p5        -      -          p5      os   ac     4x~256=6.88 48x~2048*8=55.04
p5en       p5en      -      -          30400   os   ac     48x~2048*8=63.296
inf1       inf1      2      -          -       os   abcd   x=0.228 2x=0.362 6x*4=1.18 24x*16=4.721
inf2       inf2      4      -          -       os   abc    x=0.7582 8x=1.96786 24x*6=6.49063 48x*12=12.98127
trn1       trn1      4      0.3359375  c6gd    os   bc     2x 32x*16
trn1n      trn1n     4      -          7600    os   bc     32x*16=24.78
trn2       trn2      -      -          7600    os   c      48x~2048*16=35.7608
dl1        dl1       8      -          4000    os   bd     24x*8=13.10904
f1         f1        15.25  0.4125     f1      os   ab     2x 4x 16x
vt1        vt1       2      -          -       os   ad     3x=0.65 6x=1.3 24x=5.2
`
