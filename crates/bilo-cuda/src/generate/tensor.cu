// Products by tensor cores, where all rows are multiples of sixteen long: factors are rounded to tf32, which has ten bits after
// the first, and sums are in single precision. GAP_ALONG and GAP_ACROSS, the gaps after rows in shared memory, are the host's.

#ifdef BILO_HOST
__device__ real rounded(real x) {
    union { float number; unsigned int bits; } both = {x};
    both.bits = (both.bits + 0x1000u) & ~0x1fffu;
    return both.number;
}

template <bool ADD, int TOTAL, int N, int INNER>
__device__ void tensor_product(real* c, const real* a, const real* b, const real* bias, int biased) {
    for (int row = 0; row < TOTAL; row++)
        for (int column = 0; column < N; column++) {
            real sum = row < biased ? bias[column] : 0, *to = c + row * N + column;
            for (int k = 0; k < INNER; k++) sum += rounded(a[row * INNER + k]) * rounded(b[k * N + column]);
            *to = ADD ? *to + sum : sum;
        }
}

template <int LEFT, int RIGHT, int ROWS>
__device__ void tensor_outer(real* g, int width, int columns, const real* left, const real* right, bool add_to) {
    for (int i = 0; i < width; i++)
        for (int j = 0; j < columns; j++) {
            real sum = 0, *to = g + i * columns + j;
            for (int row = 0; row < ROWS; row++) sum += rounded(left[row * LEFT + i]) * rounded(right[row * RIGHT + j]);
            *to = add_to ? *to + sum : sum;
        }
}
#else
#define WARPS (THREADS / 32)

__device__ __forceinline__ unsigned int tf32(float x) {
    unsigned int bits;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(x));
    return bits;
}

// sum += x y for sixteen rows and eight columns, eight numbers long, by the lanes of a warp. Lane 4 i + k has of x the rows i and
// i + 8 at k, then both at k + 4; of y column i at k and k + 4; of the sum row i at columns 2 k and 2 k + 1, then row i + 8.
__device__ __forceinline__ void multiply_by_warp(float (&sum)[4], const unsigned int (&x)[4], const unsigned int (&y)[2]) {
    asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
        : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1]));
}

// The part of a product that a warp makes: TALL times sixteen rows and WIDE times eight columns, from a row and a column on.
template <int TALL, int WIDE> struct WarpSum {
    float sum[TALL][WIDE][4];
    int row, column;

    METHOD WarpSum(int row, int column) : row(row), column(column) {
#pragma unroll
        for (int r = 0; r < TALL; r++)
#pragma unroll
            for (int q = 0; q < WIDE; q++)
#pragma unroll
                for (int n = 0; n < 4; n++) sum[r][q][n] = 0;
    }

    // Hands every number with its row and column to someone.
    template <class Take> METHOD void give(Take take) const {
        const int i = threadIdx.x % 32 / 4, k = threadIdx.x % 4;
#pragma unroll
        for (int r = 0; r < TALL; r++)
#pragma unroll
            for (int q = 0; q < WIDE; q++)
#pragma unroll
                for (int n = 0; n < 4; n++) take(row + 16 * r + i + n / 2 * 8, column + 8 * q + 2 * k + n % 2, sum[r][q][n]);
    }
};

// Of rows times a matrix of N columns.
template <int TALL, int WIDE, int TOTAL, int N> struct TensorProductSum : WarpSum<TALL, WIDE> {
    using WarpSum<TALL, WIDE>::WarpSum;
    template <int LENGTH> METHOD void add_chunk(const real* chunk) {
        const int LEFT = LENGTH + GAP_ALONG, RIGHT = N + GAP_ACROSS, i = threadIdx.x % 32 / 4, k = threadIdx.x % 4;
        const real* right = chunk + TOTAL * LEFT + k * RIGHT + this->column + i;
#pragma unroll
        for (int first = 0; first < LENGTH; first += 8) {
            unsigned int y[WIDE][2];
#pragma unroll
            for (int q = 0; q < WIDE; q++) {
                const real* from = right + first * RIGHT + 8 * q;
                y[q][0] = tf32(from[0]);
                y[q][1] = tf32(from[4 * RIGHT]);
            }
#pragma unroll
            for (int r = 0; r < TALL; r++) {
                const int row = this->row + 16 * r + i;
                const real *upper = chunk + least(row, TOTAL - 1) * LEFT + first + k,
                           *lower = chunk + least(row + 8, TOTAL - 1) * LEFT + first + k;
                const unsigned int x[4] = {tf32(upper[0]), tf32(lower[0]), tf32(upper[4]), tf32(lower[4])};
#pragma unroll
                for (int q = 0; q < WIDE; q++) multiply_by_warp(this->sum[r][q], x, y[q]);
            }
        }
    }
};

// c (+)= a b, as `product` does.
template <bool ADD, int TOTAL, int N, int INNER>
__device__ __noinline__ void tensor_product(real* c, const real* a, const real* b, const real* bias, int biased) {
    const int ROWS = (TOTAL + 15) / 16, TALL = ROWS < 4 ? ROWS : 4, COLUMNS = N / 8;
    const int WIDE = COLUMNS % 4 == 0 && COLUMNS / 4 >= WARPS ? 4 : COLUMNS / 2 >= WARPS ? 2 : 1;
    const int BESIDE = COLUMNS / WIDE, UNITS = (ROWS + TALL - 1) / TALL * BESIDE;
    for (int base = 0; base < UNITS; base += WARPS) {
        const int warp = base + threadIdx.x / 32, unit = least(warp, UNITS - 1);
        TensorProductSum<TALL, WIDE, TOTAL, N> found(unit / BESIDE * TALL * 16, unit % BESIDE * WIDE * 8);
        multiply<INNER>(RowsAndMatrix<TOTAL, INNER, N, GAP_ALONG, GAP_ACROSS>{a, b}, found);
        if (warp >= UNITS) continue;
        found.give([&](int row, int column, float sum) {
            if (row >= TOTAL) return;
            real* to = c + row * N + column;
            if (ADD) sum += *to;
            if (row < biased) sum += bias[column];
            *to = sum;
        });
    }
}

// Of leftᵀ right.
template <int TALL, int WIDE, int LEFT, int RIGHT> struct TensorOuterSum : WarpSum<TALL, WIDE> {
    using WarpSum<TALL, WIDE>::WarpSum;
    template <int LENGTH> METHOD void add_chunk(const real* chunk) {
        const int DOWN = LEFT + GAP_ACROSS, BESIDE = RIGHT + GAP_ACROSS, i = threadIdx.x % 32 / 4, k = threadIdx.x % 4;
        const real *left = chunk + this->row + i, *right = chunk + LENGTH * DOWN + this->column + i;
        // Rows beyond the last are zero.
        auto there = [](const real* from, int row, int stride) {
            return LENGTH % 8 == 0 || row < LENGTH ? tf32(from[row * stride]) : 0u;
        };
#pragma unroll 2
        for (int first = 0; first < LENGTH; first += 8) {
            unsigned int y[WIDE][2];
#pragma unroll
            for (int q = 0; q < WIDE; q++) {
                y[q][0] = there(right + 8 * q, first + k, BESIDE);
                y[q][1] = there(right + 8 * q, first + k + 4, BESIDE);
            }
#pragma unroll
            for (int r = 0; r < TALL; r++) {
                const real* from = left + 16 * r;
                const unsigned int x[4] = {there(from, first + k, DOWN), there(from + 8, first + k, DOWN),
                                           there(from, first + k + 4, DOWN), there(from + 8, first + k + 4, DOWN)};
#pragma unroll
                for (int q = 0; q < WIDE; q++) multiply_by_warp(this->sum[r][q], x, y[q]);
            }
        }
    }
};

// g (+)= leftᵀ right, as `outer` does.
template <int LEFT, int RIGHT, int ROWS>
__device__ __noinline__ void tensor_outer(real* g, int width, int columns, const real* left, const real* right, bool add_to) {
    const int TALL = LEFT % 32 == 0 ? 2 : 1, DOWN = LEFT / 16 / TALL, COLUMNS = RIGHT / 8;
    // As many columns as leave a part to every warp.
    const int WIDE = COLUMNS % 8 == 0 && DOWN * COLUMNS / 8 >= WARPS   ? 8
                     : COLUMNS % 4 == 0 && DOWN * COLUMNS / 4 >= WARPS ? 4
                     : DOWN * COLUMNS / 2 >= WARPS                     ? 2
                                                                       : 1;
    const int BESIDE = COLUMNS / WIDE, UNITS = DOWN * BESIDE;
    for (int base = 0; base < UNITS; base += WARPS) {
        const int warp = base + threadIdx.x / 32, unit = least(warp, UNITS - 1);
        TensorOuterSum<TALL, WIDE, LEFT, RIGHT> found(unit / BESIDE * TALL * 16, unit % BESIDE * WIDE * 8);
        multiply<ROWS>(RowsAndRows<LEFT, RIGHT, GAP_ACROSS>{left, right}, found);
        if (warp >= UNITS) continue;
        found.give([&](int row, int column, float sum) {
            if (row >= width || column >= columns) return;
            real* to = g + row * columns + column;
            *to = add_to ? *to + sum : sum;
        });
    }
}
#endif
