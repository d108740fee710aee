// Linear systems with K = S J Jᵀ S, in double precision. A block makes tiles of SIDE x SIDE entries of a matrix, and each of its
// threads 4 x 4 of these.

// Numbers of a row that are brought to shared memory at a time.
#define LENGTH 16
// How far the first numbers of all rows lie from the second ones there: aligned, and written without waiting for each other.
#define APART (SIDE + 4)
// The first row and column of a thread in a tile.
#define DOWN ((int)threadIdx.x / (SIDE / 4) * 4)
#define ACROSS ((int)threadIdx.x % (SIDE / 4) * 4)

// Rows of a factor: so many, each of `length` numbers, `stride` apart.
template <class T> struct Rows {
    const T* from;
    long long count, stride;
    int length;
};

// Four neighbouring numbers of any kind.
template <class T> struct __attribute__((aligned(16))) Group { T n[4]; };

// Brings numbers first, .. of SIDE rows to shared memory; beyond the last row and number there are zeros.
template <class T> __device__ __forceinline__ void bring_tile(T* to, Rows<T> rows, int first) {
#pragma unroll 1
    EACH(i, SIDE * LENGTH / 4) {
        const int row = i % SIDE, k = i / SIDE * 4;
        const bool there = row < rows.count && first + k < rows.length;
        const T* from = rows.from + row * rows.stride + first + k;
#pragma unroll
        for (int n = 0; n < 4; n++) to[(k + n) * APART + row] = there && first + k + n < rows.length ? from[n] : (T)0;
    }
}

// sum = the thread's entries of left · rightᵀ. All threads must come along; when they are through, all numbers have been read.
template <class T> __device__ __forceinline__ void multiply_tile(T (&sum)[4][4], Rows<T> left, Rows<T> right) {
    __shared__ __attribute__((aligned(16))) T chunk[2][LENGTH * APART];
#pragma unroll
    for (int e = 0; e < 16; e++) sum[e / 4][e % 4] = 0;
#pragma unroll 1
    for (int first = 0; first < left.length; first += LENGTH) {
        __syncthreads();
        bring_tile(chunk[0], left, first);
        bring_tile(chunk[1], right, first);
        __syncthreads();
#pragma unroll
        for (int k = 0; k < LENGTH; k++) {
            const Group<T> x = *(const Group<T>*)(chunk[0] + k * APART + DOWN);
            const Group<T> y = *(const Group<T>*)(chunk[1] + k * APART + ACROSS);
#pragma unroll
            for (int e = 0; e < 16; e++) sum[e / 4][e % 4] += x.n[e / 4] * y.n[e % 4];
        }
    }
}

// Row and column of an entry of a lower triangle, counted row by row.
__device__ void corner(long long number, long long& row, long long& column) {
    row = (long long)((sqrt(8.0 * number + 1) - 1) / 2);
    while (row * (row + 1) / 2 > number) row--;
    while ((row + 1) * (row + 2) / 2 <= number) row++;
    column = number - row * (row + 1) / 2;
}

// Factors of one affine map for two residuals.
struct Map {
    const real *adjoints[2], *inputs[2];
    long long components[2], width, columns;
};

// Rows of a component in the tile from point `first` on.
__device__ Rows<real> component(const real* list, long long first, long long points, long long components, long long c,
                                long long width) {
    return Rows<real>{list + (first * components + c) * width, points - first, components * width, (int)width};
}

// Products of all derivatives by the weights of one residual with those of another: a part of K and its mirror image. Of a
// residual's products with itself the lower triangle is made.
extern "C" __global__ void products(const word* args) {
    double* kernel = (double*)args[0];
    const double* scales = (const double*)args[1];
    const long long n = args[2], top = args[3], left = args[4], down = args[5], across = args[6], map_count = args[7];
    const Map* maps = (const Map*)(args + 8);
    const long long tiles_down = (down + SIDE - 1) / SIDE, tiles_across = (across + SIDE - 1) / SIDE;
    const bool itself = top == left;
    const long long tiles = itself ? tiles_down * (tiles_down + 1) / 2 : tiles_down * tiles_across;
    for (long long tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        long long row = tile / tiles_across, column = tile % tiles_across;
        if (itself) corner(tile, row, column);
        row *= SIDE;
        column *= SIDE;
        double total[4][4];
#pragma unroll
        for (int e = 0; e < 16; e++) total[e / 4][e % 4] = 0;
        for (long long m = 0; m < map_count; m++) {
            const Map map = maps[m];
            for (long long pair = 0; pair < map.components[0] * map.components[1]; pair++) {
                const long long c = pair / map.components[1], d = pair % map.components[1];
                real a[4][4], b[4][4];
                multiply_tile(a, component(map.adjoints[0], row, down, map.components[0], c, map.width),
                              component(map.adjoints[1], column, across, map.components[1], d, map.width));
                multiply_tile(b, component(map.inputs[0], row, down, map.components[0], c, map.columns),
                              component(map.inputs[1], column, across, map.components[1], d, map.columns));
#pragma unroll
                for (int e = 0; e < 16; e++) total[e / 4][e % 4] += (double)a[e / 4][e % 4] * b[e / 4][e % 4];
            }
        }
#pragma unroll
        for (int e = 0; e < 16; e++) {
            const long long i = row + DOWN + e / 4, j = column + ACROSS + e % 4;
            if (i >= down || j >= across || (itself && j > i)) continue;
            const double value = scales[top + i] * total[e / 4][e % 4] * scales[left + j];
            kernel[(top + i) * n + left + j] = value;
            kernel[(left + j) * n + top + i] = value;
        }
    }
}

// What all kernels below are told.
struct System {
    const double* kernel;
    // K + damping, then its lower factor L, below and on the diagonal.
    double* matrix;
    long long n;
    // Inverses of the blocks on the diagonal of L.
    double* inverses;
    // How many pivots were not positive.
    double* failed;
    double damping;
    // Columns of right sides b, of y in L y = b, solutions x of Lᵀ x = y, and products K x; n apart.
    double *right, *half, *solution, *product;
    long long columns;
};

// matrix = K + damping.
extern "C" __global__ void damp(const word* args) {
    const System s = *(const System*)args[0];
    for (long long row = blockIdx.x; row < s.n; row += gridDim.x)
        for (long long column = threadIdx.x; column <= row; column += THREADS)
            s.matrix[row * s.n + column] = s.kernel[row * s.n + column] + (row == column ? s.damping : 0);
}

// The factor of the block number args[1] on the diagonal, and its inverse. One block.
extern "C" __global__ void diagonal(const word* args) {
    const System s = *(const System*)args[0];
    const long long first = args[1] * SIDE;
    const int size = s.n - first < SIDE ? s.n - first : SIDE;
    double *matrix = s.matrix + first * s.n + first, *inverse = s.inverses + args[1] * SIDE * SIDE;
    __shared__ double l[SIDE][SIDE + 1];
    EACH(e, SIDE * SIDE) {
        const int i = e / SIDE, j = e % SIDE;
        l[i][j] = i < size && j <= i ? matrix[i * s.n + j] : i == j;
    }
    __syncthreads();
    for (int k = 0; k < SIDE; k++) {
        const double pivot = l[k][k], root = sqrt(pivot);
        __syncthreads();
        EACH(i, SIDE) {
            if (i == k && !(pivot > 0)) *s.failed += 1;
            if (i >= k) l[i][k] = i == k ? root : l[i][k] / root;
        }
        __syncthreads();
        EACH(e, SIDE * SIDE) {
            const int i = e / SIDE, j = e % SIDE;
            if (j > k && j <= i) l[i][j] -= l[i][k] * l[j][k];
        }
        __syncthreads();
    }
    EACH(e, SIDE * SIDE) {
        const int i = e / SIDE, j = e % SIDE;
        if (i < size && j <= i) matrix[i * s.n + j] = l[i][j];
    }
    // Column by column, in the upper triangle, where nothing stands.
    __shared__ double diagonals[SIDE];
    EACH(j, SIDE) {
        diagonals[j] = 1 / l[j][j];
        for (int i = j + 1; i < SIDE; i++) {
            double sum = l[i][j] * diagonals[j];
            for (int k = j + 1; k < i; k++) sum += l[i][k] * l[j][k];
            l[j][i] = -sum / l[i][i];
        }
    }
    __syncthreads();
    EACH(e, SIDE * SIDE) {
        const int i = e / SIDE, j = e % SIDE;
        inverse[e] = i == j ? diagonals[i] : j < i ? l[j][i] : 0;
    }
}

// The columns of L below block number args[1]: the matrix times the transposed inverse.
extern "C" __global__ void eliminate(const word* args) {
    const System s = *(const System*)args[0];
    const long long first = args[1] * SIDE;
    const Rows<double> inverse = {s.inverses + args[1] * SIDE * SIDE, SIDE, SIDE, SIDE};
    for (long long row = first + SIDE + blockIdx.x * SIDE; row < s.n; row += gridDim.x * SIDE) {
        double sum[4][4];
        multiply_tile(sum, Rows<double>{s.matrix + row * s.n + first, s.n - row, s.n, SIDE}, inverse);
#pragma unroll
        for (int e = 0; e < 16; e++) {
            const long long i = row + DOWN + e / 4;
            if (i < s.n) s.matrix[i * s.n + first + ACROSS + e % 4] = sum[e / 4][e % 4];
        }
    }
}

// The rest of the lower triangle minus these columns times themselves.
extern "C" __global__ void update(const word* args) {
    const System s = *(const System*)args[0];
    const long long first = args[1] * SIDE, below = first + SIDE, side = (s.n - below + SIDE - 1) / SIDE;
    for (long long tile = blockIdx.x; tile < side * (side + 1) / 2; tile += gridDim.x) {
        long long row, column;
        corner(tile, row, column);
        row = below + row * SIDE;
        column = below + column * SIDE;
        double sum[4][4];
        multiply_tile(sum, Rows<double>{s.matrix + row * s.n + first, s.n - row, s.n, SIDE},
                      Rows<double>{s.matrix + column * s.n + first, s.n - column, s.n, SIDE});
#pragma unroll
        for (int e = 0; e < 16; e++) {
            const long long i = row + DOWN + e / 4, j = column + ACROSS + e % 4;
            if (i < s.n && j <= i) s.matrix[i * s.n + j] -= sum[e / 4][e % 4];
        }
    }
}

// The unknowns of block number args[1] of L y = right, and what they leave of the rows below: one block each.
extern "C" __global__ void forward(const word* args) {
    const System s = *(const System*)args[0];
    const long long first = args[1] * SIDE, row = first + blockIdx.x * SIDE;
    const double* inverse = s.inverses + args[1] * SIDE * SIDE;
    __shared__ double y[SIDE];
    for (long long c = 0; c < s.columns; c++) {
        double* right = s.right + c * s.n;
        EACH(i, SIDE) {
            double sum = 0;
            for (int k = 0; k <= i && first + k < s.n; k++) sum += inverse[i * SIDE + k] * right[first + k];
            y[i] = sum;
        }
        __syncthreads();
        EACH(i, SIDE) {
            if (row + i >= s.n) continue;
            if (row == first) {
                s.half[c * s.n + row + i] = y[i];
            } else {
                double sum = 0;
                for (int k = 0; k < SIDE; k++) sum += s.matrix[(row + i) * s.n + first + k] * y[k];
                right[row + i] -= sum;
            }
        }
        __syncthreads();
    }
}

// The same of Lᵀ x = y, with the rows above.
extern "C" __global__ void backward(const word* args) {
    const System s = *(const System*)args[0];
    const long long first = args[1] * SIDE, row = blockIdx.x * SIDE;
    const double* inverse = s.inverses + args[1] * SIDE * SIDE;
    __shared__ double x[SIDE];
    for (long long c = 0; c < s.columns; c++) {
        double* half = s.half + c * s.n;
        EACH(i, SIDE) {
            double sum = 0;
            for (int k = i; k < SIDE && first + k < s.n; k++) sum += inverse[k * SIDE + i] * half[first + k];
            x[i] = sum;
        }
        __syncthreads();
        EACH(i, SIDE) {
            if (row == first) {
                if (row + i < s.n) s.solution[c * s.n + row + i] = x[i];
            } else {
                double sum = 0;
                for (int k = 0; k < SIDE && first + k < s.n; k++) sum += s.matrix[(first + k) * s.n + row + i] * x[k];
                half[row + i] -= sum;
            }
        }
        __syncthreads();
    }
}

// K x: a block takes rows, its threads slices of them, whose sums are added in order.
extern "C" __global__ void times(const word* args) {
    const System s = *(const System*)args[0];
    __shared__ double parts[THREADS];
    for (long long row = blockIdx.x; row < s.n; row += gridDim.x)
        for (long long c = 0; c < s.columns; c++) {
            double sum = 0;
            for (long long k = threadIdx.x; k < s.n; k += THREADS) sum += s.kernel[row * s.n + k] * s.solution[c * s.n + k];
            parts[threadIdx.x] = sum;
            __syncthreads();
            if (threadIdx.x == 0) {
                sum = 0;
                for (int t = 0; t < THREADS; t++) sum += parts[t];
                s.product[c * s.n + row] = sum;
            }
            __syncthreads();
        }
}
