// Kernels that belong to no program. The constants of Adam, and NOWHERE, the place of a weight that has none, are the host's.

// Casts trained weights and puts them to their places.
extern "C" __global__ void pack(const word* args) {
    real* packed = (real*)args[0];
    const double* weights = (const double*)args[1];
    const unsigned int *from = (const unsigned int*)args[2], *to = (const unsigned int*)args[3];
    const long long count = args[4];
    for (long long i = blockIdx.x * THREADS + threadIdx.x; i < count; i += gridDim.x * THREADS)
        packed[to[i]] = (real)weights[from[i]];
}

// The sum of numbers that lie apart. Sixteen are on their way at a time; they are added in order.
template <class T> __device__ double total(const T* from, long long stride, long long count) {
    double sum = 0;
    for (; count >= 16; count -= 16, from += 16 * stride) {
        T part[16];
#pragma unroll
        for (int k = 0; k < 16; k++) part[k] = from[k * stride];
#pragma unroll
        for (int k = 0; k < 16; k++) sum += part[k];
    }
    for (; count > 0; count--, from += stride) sum += *from;
    return sum;
}

// Weight gradients of one program's blocks.
struct Gradients {
    const real* parts;
    // How far the blocks' lie apart, how many there are, and of how many weights.
    long long distance, blocks, weights;
    double factor;
};

// Sums of one program's blocks.
struct Sums {
    const double* parts;
    long long distance, blocks, count;
    // The factor of all, and of those after the first as derivatives by unknowns, zero if they are none.
    double scale, by_unknown;
    // Where the first one stands in a row of the table.
    long long place;
};

// Adds up the gradients and the sums of one program.
extern "C" __global__ void collect(const word* args) {
    double *gradient = (double*)args[0], *sums = (double*)args[1];
    const Gradients* of_weights = (const Gradients*)args[2];
    const Sums* of_points = (const Sums*)args[3];
    const long long first = blockIdx.x * THREADS + threadIdx.x, pace = gridDim.x * THREADS;
    for (long long i = first; gradient && i < of_weights->weights; i += pace)
        gradient[i] = of_weights->factor * total(of_weights->parts + i, of_weights->distance, of_weights->blocks);
    for (long long s = first; s < of_points->count; s += pace)
        sums[s] = of_points->scale * total(of_points->parts + s, of_points->distance, of_points->blocks);
}

// One step of Adam with amsgrad. A variable's state has four numbers: mean, mean square, largest mean square, rate. A step's row
// of factors has the rate's of either level, and the corrections of both means.
__device__ void adam(double& x, double g, double* state, const double* factors, long long level) {
    state[0] = BETA1 * state[0] + (1 - BETA1) * g;
    state[1] = BETA2 * state[1] + (1 - BETA2) * g * g;
    state[2] = state[1] > state[2] ? state[1] : state[2];
    x -= factors[level] * state[3] / factors[2] * state[0] / (sqrt(state[2]) / factors[3] + EPSILON);
}

// Moves weights from `first` on along the gradients of several programs, and puts them to their places in several packings, at
// most two in each.
extern "C" __global__ void move_weights(const word* args) {
    double *weights = (double*)args[0], *state = (double*)args[1];
    const long long first = args[2], count = args[3], *step = (const long long*)args[4], level = args[6];
    const double* factors = (const double*)args[5] + 4 * *step;
    const Gradients* programs = (const Gradients*)args[7];
    const long long program_count = args[8];
    const word* packings = (const word*)args[9];
    const long long packing_count = args[10];
    for (long long i = blockIdx.x * THREADS + threadIdx.x; i < count; i += gridDim.x * THREADS) {
        const long long weight = first + i;
        double g = 0;
        for (long long p = 0; p < program_count; p++) {
            const Gradients program = programs[p];
            if (weight < program.weights)
                g += program.factor * total(program.parts + weight, program.distance, program.blocks);
        }
        double x = weights[weight];
        adam(x, g, state + 4 * i, factors, level);
        weights[weight] = x;
        for (long long p = 0; p < packing_count; p++) {
            real* packed = (real*)packings[2 * p];
            const unsigned int* places = (const unsigned int*)packings[2 * p + 1] + 2 * weight;
            if (places[0] != NOWHERE) packed[places[0]] = (real)x;
            if (places[1] != NOWHERE) packed[places[1]] = (real)x;
        }
    }
}

// Counts a step that begins. One block.
extern "C" __global__ void begin(const word* args) {
    if (threadIdx.x == 0) *(long long*)args[0] += 1;
}

// Writes the row of a step: the sums of all programs and the unknowns; moves the unknowns along the derivatives among the
// sums, within bounds. One block.
extern "C" __global__ void advance(const word* args) {
    const long long* step = (const long long*)args[0];
    const double* factors = (const double*)args[1] + 4 * *step;
    double* row = (double*)args[2] + *step * args[3];
    const Sums* programs = (const Sums*)args[4];
    const long long program_count = args[5];
    double *unknowns = (double*)args[6], *state = (double*)args[7];
    const double* bounds = (const double*)args[8];
    const long long count = args[9], moved = args[10], after_sums = args[11];
    // Sixteen threads to a sum: each adds up neighbouring blocks, then their shares are added in order.
    __shared__ double shares[THREADS > 16 ? THREADS : 16];
    const int TEAMS = THREADS > 16 ? THREADS / 16 : 1;
    for (long long p = 0; p < program_count; p++) {
        const Sums program = programs[p];
        const long long share = (program.blocks + 15) / 16;
        for (long long s = 0; s < program.count; s += TEAMS) {
            EACH(i, TEAMS * 16) {
                const long long sum = s + i / 16, first = i % 16 * share, left = program.blocks - first;
                if (sum < program.count)
                    shares[i] = total(program.parts + first * program.distance + sum, program.distance, left < share ? left : share);
            }
            __syncthreads();
            EACH(team, TEAMS) {
                double sum = 0;
                for (int i = 0; i < 16; i++) sum += shares[team * 16 + i];
                if (s + team < program.count) row[program.place + s + team] = program.scale * sum;
            }
            __syncthreads();
        }
    }
    EACH(j, count) {
        double x = unknowns[j], g = 0;
        row[after_sums + j] = x;
        if (j >= moved) continue;
        for (long long p = 0; p < program_count; p++)
            if (programs[p].by_unknown != 0) g += programs[p].by_unknown * row[programs[p].place + 1 + j];
        adam(x, g, state + 4 * j, factors, 1);
        unknowns[j] = x < bounds[2 * j] ? bounds[2 * j] : x > bounds[2 * j + 1] ? bounds[2 * j + 1] : x;
    }
}
