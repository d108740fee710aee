// What all generated kernels share. A block works on one tile of points at a time; its threads share every loop, and
// meet at a barrier after each. REAL is float or double.

#ifdef BILO_HOST
// The same text as C++ for one thread: every loop below is then whole, and barriers have no one to wait for.
#include <math.h>
#define __device__ static inline
#define __global__
#define __launch_bounds__(...)
struct Place { unsigned int x; };
static Place threadIdx = {0}, blockDim = {1}, blockIdx = {0}, gridDim = {1};
extern "C" void place(unsigned int block, unsigned int blocks) { blockIdx.x = block; gridDim.x = blocks; }
static inline void __syncthreads() {}
#define __noinline__
#define __forceinline__
#define __shared__ static
#define METHOD inline
#else
#define METHOD __device__ __forceinline__
#endif

typedef REAL real;
typedef unsigned long long word;

// Four neighbouring numbers: one access to memory in single precision, two in double.
struct __attribute__((aligned(16))) Quad { real x, y, z, w; };

// The numbers of a quad, one by one.
struct Four { real n[4]; };

// THREADS is the number of threads of a block, so that short loops are known to be short.
#define EACH(i, count) for (int i = threadIdx.x; i < (count); i += THREADS)

__device__ int least(int a, int b) { return a < b ? a : b; }
__device__ Quad quad(const real* at) { return *(const Quad*)at; }
__device__ Four four(const real* at) {
    Quad q = quad(at);
    return Four{{q.x, q.y, q.z, q.w}};
}
__device__ void put(real* at, Four f) { *(Quad*)at = Quad{f.n[0], f.n[1], f.n[2], f.n[3]}; }
__device__ void add(Quad& sum, real a, Quad b) {
    sum.x += a * b.x;
    sum.y += a * b.y;
    sum.z += a * b.z;
    sum.w += a * b.w;
}

#ifdef BILO_HOST
__device__ void copy_quad(real* to, const real* from) { *(Quad*)to = *(const Quad*)from; }
__device__ void end_of_copies() {}
template <int LEFT> __device__ void await_copies() {}
#else
// Copies to shared memory that go on beside the arithmetic, in groups.
__device__ __forceinline__ void copy_quad(real* to, const real* from) {
    unsigned int place = (unsigned int)__cvta_generic_to_shared(to);
#pragma unroll
    for (int byte = 0; byte < sizeof(Quad); byte += 16)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(place + byte), "l"((const char*)from + byte));
}
__device__ __forceinline__ void end_of_copies() { asm volatile("cp.async.commit_group;"); }
// Waits until all groups of copies but the last ones have come in.
template <int LEFT> __device__ __forceinline__ void await_copies() {
    asm volatile("cp.async.wait_group %0;" ::"n"(LEFT) : "memory");
}
#endif

// STAGES places of STAGE numbers: while one chunk of the factors of a product is multiplied, the next ones come in.
#ifdef BILO_HOST
static real shared_memory[STAGES * STAGE] __attribute__((aligned(16)));
#else
extern __shared__ __attribute__((aligned(16))) real shared_memory[];
#endif
__device__ __forceinline__ real* stage(int chunk) { return shared_memory + chunk % STAGES * STAGE; }

// Brings ROWS rows of QUADS quads, STRIDE numbers apart, to shared memory, where they are APART numbers apart.
template <int ROWS, int QUADS, int STRIDE, int APART> __device__ __forceinline__ void bring(real* to, const real* from) {
    const int TURNS = (ROWS * QUADS + THREADS - 1) / THREADS;
    if (THREADS % QUADS == 0) {
        // A thread stays in its column: all distances are known.
        const int STEP = THREADS / QUADS;
        const unsigned row = threadIdx.x / QUADS, column = threadIdx.x % QUADS * 4;
        to += row * APART + column;
        from += row * STRIDE + column;
#pragma unroll
        for (int turn = 0; turn < TURNS; turn++)
            if ((turn + 1) * STEP <= ROWS || row + turn * STEP < ROWS)
                copy_quad(to + turn * STEP * APART, from + turn * STEP * STRIDE);
    } else {
#pragma unroll
        for (int turn = 0; turn < TURNS; turn++) {
            const unsigned i = turn * THREADS + threadIdx.x;
            if (i < ROWS * QUADS) copy_quad(to + i / QUADS * APART + i % QUADS * 4, from + i / QUADS * STRIDE + i % QUADS * 4);
        }
    }
}

// The factors of a b, TOTAL rows of INNER numbers and INNER rows of N numbers: columns of a and rows of b come next. In shared
// memory there is a gap after every row.
template <int TOTAL, int INNER, int N, int GAP, int OTHER_GAP> struct RowsAndMatrix {
    const real *a, *b;
    template <int LENGTH> METHOD void bring_next(real* to) {
        bring<TOTAL, LENGTH / 4, INNER, LENGTH + GAP>(to, a);
        bring<LENGTH, N / 4, N, N + OTHER_GAP>(to + TOTAL * (LENGTH + GAP), b);
        a += LENGTH;
        b += LENGTH * N;
    }
};

// The factors of leftᵀ right, rows of LEFT and of RIGHT numbers: some rows of both come next.
template <int LEFT, int RIGHT, int GAP> struct RowsAndRows {
    const real *left, *right;
    template <int LENGTH> METHOD void bring_next(real* to) {
        bring<LENGTH, LEFT / 4, LEFT, LEFT + GAP>(to, left);
        bring<LENGTH, RIGHT / 4, RIGHT, RIGHT + GAP>(to + LENGTH * (LEFT + GAP), right);
        left += LENGTH * LEFT;
        right += LENGTH * RIGHT;
    }
};

// Adds the product of two factors, LENGTH long, to a sum, chunk by chunk: while one is multiplied, the next ones come in.
template <int LENGTH, class Factors, class Sum> __device__ __forceinline__ void multiply(Factors factors, Sum& sum) {
    const int CHUNKS = LENGTH / CHUNK, REST = LENGTH % CHUNK;
#pragma unroll
    for (int chunk = 0; chunk < STAGES - 1; chunk++) {
        if (chunk < CHUNKS) factors.template bring_next<CHUNK>(stage(chunk));
        end_of_copies();
    }
#pragma unroll 1
    for (int chunk = 0; chunk < CHUNKS; chunk++) {
        await_copies<STAGES - 2>();
        // From here on no one reads the chunk before, whose place another one takes.
        __syncthreads();
        if (chunk + STAGES - 1 < CHUNKS) factors.template bring_next<CHUNK>(stage(chunk + STAGES - 1));
        end_of_copies();
        sum.template add_chunk<CHUNK>(stage(chunk));
    }
    if (REST > 0) {
        const int SOME = REST > 0 ? REST : 4;
        __syncthreads();
        factors.template bring_next<SOME>(stage(0));
        end_of_copies();
        await_copies<0>();
        __syncthreads();
        sum.template add_chunk<SOME>(stage(0));
    }
    // Nor may the next product overtake those who still read.
    __syncthreads();
}

// ROWS of the TOTAL rows of a product, from `first` on, at four of its N columns, from `column` on.
template <int ROWS, int TOTAL, int N> struct ProductSum {
    Quad sum[ROWS];
    int first, column;
    template <int LENGTH> METHOD void add_chunk(const real* chunk) {
        const real* right = chunk + TOTAL * LENGTH + column;
        const real* row[ROWS];
#pragma unroll
        for (int r = 0; r < ROWS; r++) row[r] = chunk + least(first + r, TOTAL - 1) * LENGTH;
#pragma unroll
        for (int k = 0; k < LENGTH; k += 4) {
            Quad b0 = quad(right + k * N), b1 = quad(right + (k + 1) * N), b2 = quad(right + (k + 2) * N),
                 b3 = quad(right + (k + 3) * N);
#pragma unroll
            for (int r = 0; r < ROWS; r++) {
                Quad x = quad(row[r] + k);
                add(sum[r], x.x, b0);
                add(sum[r], x.y, b1);
                add(sum[r], x.z, b2);
                add(sum[r], x.w, b3);
            }
        }
    }
};

// c (+)= a b for TOTAL rows; bias is added to the first of them. A thread makes ROWS x 4 numbers of the 4 QUADS columns. INNER,
// the length of a's rows, is a multiple of 4: what fills them up is zero in both factors.
template <int ROWS, bool ADD, int TOTAL, int QUADS, int INNER>
__device__ __noinline__ void product(real* c, const real* a, const real* b, const real* bias, int biased) {
    const int N = 4 * QUADS, UNITS = (TOTAL + ROWS - 1) / ROWS * QUADS;
    for (int base = 0; base < UNITS; base += THREADS) {
        const int unit = least(base + threadIdx.x, UNITS - 1), first = unit / QUADS * ROWS, column = unit % QUADS * 4;
        ProductSum<ROWS, TOTAL, N> found;
        found.first = first;
        found.column = column;
#pragma unroll
        for (int r = 0; r < ROWS; r++) found.sum[r] = Quad{0, 0, 0, 0};
        multiply<INNER>(RowsAndMatrix<TOTAL, INNER, N, 0, 0>{a, b}, found);
        if (base + threadIdx.x >= UNITS) continue;
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
            if (first + r >= TOTAL) continue;
            real* to = c + (first + r) * N + column;
            if (ADD) add(found.sum[r], 1, quad(to));
            if (first + r < biased) add(found.sum[r], 1, quad(bias + column));
            *(Quad*)to = found.sum[r];
        }
    }
}

// The same where a's rows are one quad: nothing is worth being brought nearer.
template <bool ADD, int TOTAL, int QUADS>
__device__ __noinline__ void thin_product(real* c, const real* a, const real* b, const real* bias, int biased) {
    const int N = 4 * QUADS;
#pragma unroll 4
    EACH(unit, TOTAL * QUADS) {
        const int row = unit / QUADS, column = unit % QUADS * 4;
        const Quad x = quad(a + 4 * row);
        Quad sum = ADD ? quad(c + row * N + column) : Quad{0, 0, 0, 0};
        add(sum, x.x, quad(b + column));
        add(sum, x.y, quad(b + N + column));
        add(sum, x.z, quad(b + 2 * N + column));
        add(sum, x.w, quad(b + 3 * N + column));
        if (row < biased) add(sum, 1, quad(bias + column));
        *(Quad*)(c + row * N + column) = sum;
    }
}

// The same for one quad of columns: a thread takes a slice of a row, and the slices' sums are added in order.
template <bool ADD, int TOTAL, int INNER>
__device__ __noinline__ void narrow_product(real* c, const real* a, const real* b, const real* bias, int biased) {
    const int SLICE = 16, SLICES = (INNER + SLICE - 1) / SLICE, AT_ONCE = STAGES * STAGE / (4 * SLICES);
    for (int start = 0; start < TOTAL; start += AT_ONCE) {
        const int rows = least(AT_ONCE, TOTAL - start);
        Quad* parts = (Quad*)stage(0);
        EACH(unit, rows * SLICES) {
            const int row = unit / SLICES, first = unit % SLICES * SLICE;
            const real* from = a + (start + row) * INNER;
            Quad sum = Quad{0, 0, 0, 0};
#pragma unroll
            for (int k = first; k < first + SLICE; k += 4) {
                if (INNER % SLICE != 0 && k >= INNER) break;
                Quad x = quad(from + k);
                add(sum, x.x, quad(b + 4 * k));
                add(sum, x.y, quad(b + 4 * k + 4));
                add(sum, x.z, quad(b + 4 * k + 8));
                add(sum, x.w, quad(b + 4 * k + 12));
            }
            parts[unit] = sum;
        }
        __syncthreads();
        EACH(row, rows) {
            real* to = c + (start + row) * 4;
            Quad sum = ADD ? quad(to) : Quad{0, 0, 0, 0};
            for (int slice = 0; slice < SLICES; slice++) add(sum, 1, parts[row * SLICES + slice]);
            if (start + row < biased) add(sum, 1, quad(bias));
            *(Quad*)to = sum;
        }
        __syncthreads();
    }
}

// SIDE x SIDE quads of rows and columns of leftᵀ right, rows of LEFT and RIGHT quads, from quads i and j on. They lie apart, so
// that neighbouring threads read neighbouring quads.
template <int SIDE, int LEFT, int RIGHT> struct OuterSum {
    enum { DOWN = (LEFT + SIDE - 1) / SIDE, ACROSS = (RIGHT + SIDE - 1) / SIDE };
    Quad sum[4 * SIDE][SIDE];
    int i, j;
    template <int LENGTH> METHOD void add_chunk(const real* chunk) {
        const real *left = chunk + 4 * i, *right = chunk + 4 * (LENGTH * LEFT + j);
#pragma unroll 8
        for (int row = 0; row < LENGTH; row++) {
            Quad x[SIDE], y[SIDE];
#pragma unroll
            for (int q = 0; q < SIDE; q++) {
                x[q] = quad(right + 4 * (row * RIGHT + q * ACROSS));
                y[q] = quad(left + 4 * (row * LEFT + q * DOWN));
            }
#pragma unroll
            for (int r = 0; r < SIDE; r++)
#pragma unroll
                for (int q = 0; q < SIDE; q++) {
                    add(sum[4 * r][q], y[r].x, x[q]);
                    add(sum[4 * r + 1][q], y[r].y, x[q]);
                    add(sum[4 * r + 2][q], y[r].z, x[q]);
                    add(sum[4 * r + 3][q], y[r].w, x[q]);
                }
        }
    }
};

// g = leftᵀ right, or g += leftᵀ right, over rows of LEFT and RIGHT quads; a thread makes SIDE x SIDE quads. Rows of g are packed:
// they have `columns` numbers; WHOLE tells that these are whole quads.
template <int SIDE, int LEFT, int RIGHT, int ROWS, bool WHOLE>
__device__ __noinline__ void outer(real* g, int width, int columns, const real* left, const real* right, bool add_to) {
    typedef OuterSum<SIDE, LEFT, RIGHT> Found;
    const int UNITS = Found::DOWN * Found::ACROSS;
    for (int base = 0; base < UNITS; base += THREADS) {
        const int unit = least(base + threadIdx.x, UNITS - 1);
        Found found;
        found.i = unit / Found::ACROSS;
        found.j = unit % Found::ACROSS;
#pragma unroll
        for (int r = 0; r < 4 * SIDE; r++)
#pragma unroll
            for (int q = 0; q < SIDE; q++) found.sum[r][q] = Quad{0, 0, 0, 0};
        multiply<ROWS>(RowsAndRows<4 * LEFT, 4 * RIGHT, 0>{left, right}, found);
        if (base + threadIdx.x >= UNITS) continue;
#pragma unroll
        for (int r = 0; r < 4 * SIDE; r++)
#pragma unroll
            for (int q = 0; q < SIDE; q++) {
                const int quad_row = found.i + r / 4 * Found::DOWN, row = quad_row * 4 + r % 4;
                const int column = (found.j + q * Found::ACROSS) * 4;
                Quad& sum = found.sum[r][q];
                real* to = g + row * columns + column;
                // Quads beyond the last belong to no one.
                if (quad_row >= LEFT || row >= width || column >= columns) continue;
                if (WHOLE) {
                    if (add_to) add(sum, 1, quad(to));
                    *(Quad*)to = sum;
                } else {
                    const real four[4] = {sum.x, sum.y, sum.z, sum.w};
#pragma unroll
                    for (int n = 0; n < 4; n++)
                        if (column + n < columns) to[n] = add_to ? to[n] + four[n] : four[n];
                }
            }
    }
}

// The same where one factor has one quad, `narrow`, and the other WIDE numbers: a thread takes a column of the wide one over a
// slice of the rows, and slices are added in order. The numbers of column w and n go to g[w * by_wide + n * by_narrow], for n < count.
template <int WIDE, int ROWS>
__device__ __noinline__ void narrow_outer(real* g, int width, int by_wide, int count, int by_narrow, const real* wide,
                                          const real* narrow, bool add_to) {
    const int ROOM = STAGES * STAGE / (4 * WIDE), SLICES = ROOM < 4 ? ROOM : 4, SLICE = (ROWS + SLICES - 1) / SLICES;
    Quad* parts = (Quad*)stage(0);
    EACH(unit, WIDE * SLICES) {
        const int w = unit % WIDE, first = unit / WIDE * SLICE;
        Quad sum = Quad{0, 0, 0, 0};
#pragma unroll 8
        for (int row = first; row < least(first + SLICE, ROWS); row++) add(sum, wide[row * WIDE + w], quad(narrow + 4 * row));
        parts[unit] = sum;
    }
    __syncthreads();
    EACH(w, width) {
        Quad sum = Quad{0, 0, 0, 0};
#pragma unroll
        for (int slice = 0; slice < SLICES; slice++) add(sum, 1, parts[slice * WIDE + w]);
        const real four[4] = {sum.x, sum.y, sum.z, sum.w};
#pragma unroll
        for (int n = 0; n < 4; n++)
            if (n < count) {
                real* to = g + w * by_wide + n * by_narrow;
                *to = add_to ? *to + four[n] : four[n];
            }
    }
    __syncthreads();
}

// g = the sum of rows, or g += it.
template <int ROWS> __device__ void sum_rows(real* g, int width, const real* from, int stride, bool add_to) {
    EACH(i, width) {
        real sum = 0;
#pragma unroll 16
        for (int row = 0; row < ROWS; row++) sum += from[row * stride + i];
        g[i] = add_to ? g[i] + sum : sum;
    }
}

// Functions of the problem language in both precisions.
#define UNARY(name, single, twofold)                                \
    __device__ float name(float x) { return single; }               \
    __device__ double name(double x) { return twofold; }
UNARY(f_sin, sinf(x), sin(x))
UNARY(f_cos, cosf(x), cos(x))
UNARY(f_tan, tanf(x), tan(x))
UNARY(f_asin, asinf(x), asin(x))
UNARY(f_acos, acosf(x), acos(x))
UNARY(f_atan, atanf(x), atan(x))
UNARY(f_sinh, sinhf(x), sinh(x))
UNARY(f_asinh, asinhf(x), asinh(x))
UNARY(f_cosh, coshf(x), cosh(x))
UNARY(f_tanh, tanhf(x), tanh(x))
UNARY(f_exp, expf(x), exp(x))
UNARY(f_expm1, expm1f(x), expm1(x))
UNARY(f_log, logf(x), log(x))
UNARY(f_log1p, log1pf(x), log1p(x))
UNARY(f_sqrt, sqrtf(x), sqrt(x))
UNARY(f_abs, fabsf(x), fabs(x))
UNARY(f_erf, erff(x), erf(x))
UNARY(f_sign, x > 0 ? 1.0f : x < 0 ? -1.0f : x, x > 0 ? 1.0 : x < 0 ? -1.0 : x)
__device__ float f_pow(float x, float y) { return powf(x, y); }
__device__ double f_pow(double x, double y) { return pow(x, y); }
template <class T> __device__ T f_sigmoid(T x) {
    T e = f_exp(-f_abs(x));
    return (x < 0 ? e : (T)1) / (1 + e);
}
template <class T> __device__ T f_softplus(T x) { return (x < 0 ? (T)0 : x) + f_log1p(f_exp(-f_abs(x))); }
template <class T> __device__ T f_min(T a, T b) { return a < b || a != a ? a : b; }
template <class T> __device__ T f_max(T a, T b) { return a > b || a != a ? a : b; }
template <class T> __device__ T f_log_of_base(T x) { return x == 0 ? (T)0 : f_log(x); }
template <class T> __device__ T power(T x, int n) {
    int rest = n < 0 ? -n : n;
    T square = x, result = 1;
    while (rest > 0) {
        if (rest & 1) result *= square;
        square *= square;
        rest >>= 1;
    }
    return n < 0 ? 1 / result : result;
}
// slope * g, but zero where g is: a branch that was not taken may hold infinities.
template <class T> __device__ T pulled(T g, T slope) { return g == 0 ? (T)0 : g * slope; }

// (tanh z, its derivative), accurate relative to each for every z.
__device__ void tanh_and_slope(real z, real& a, real& slope) {
    real minus_one = f_expm1(-2 * f_abs(z)), e = f_exp(-2 * f_abs(z));
    real inverse = 1 / (2 + minus_one);
    a = z < 0 ? minus_one * inverse : -minus_one * inverse;
    slope = 4 * e * inverse * inverse;
}

// The point at place p of a tile: the last one fills a tile up.
__device__ long long point_of(long long tile, int points, int p, long long count) {
    long long at = tile * points + p;
    return at < count ? at : count - 1;
}

// Copies rows of WIDTH numbers to a list that has `columns` numbers for each component of each point, from `column` on.
// Components from `live` on are zero; what is nowhere is one.
template <int POINTS, int COMPONENTS, int WIDTH>
__device__ __noinline__ void write_rows(real* list, int columns, int column, const real* from, int stride, int live,
                                        long long tile, long long count) {
    EACH(i, POINTS * COMPONENTS * WIDTH) {
        const int k = i % WIDTH, p = i / WIDTH % POINTS, c = i / WIDTH / POINTS;
        const long long at = tile * POINTS + p;
        if (at >= count) continue;
        const real value = c >= live ? (real)0 : from ? from[(c * POINTS + p) * stride + k] : (real)1;
        list[(at * COMPONENTS + c) * columns + column + k] = value;
    }
}
