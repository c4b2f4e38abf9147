// SPDX-License-Identifier: GPL-2.0
/*
 * mpirun -x LD_PRELOAD=libpeerlane-mpi.so exact
 *
 * Calls each function twice, as MPI_ and as PMPI_, and compares all bytes. Values
 * are small and whole, so that no order of summation makes a difference. Rank 0
 * says at the end how many calls were for the group.
 */
#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST	6007	/* elements of a block; more than a piece has */
#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

static int rank, ranks;
static long served;		/* calls that are for the group */
static int bad;

struct element {
	MPI_Datatype type;
	const char *name;
	bool is_float;
};

static const struct element elements[] = {
	{ MPI_DOUBLE, "double", true }, { MPI_FLOAT, "float", true },
	{ MPI_INT, "int", false }, { MPI_LONG, "long", false },
	{ MPI_INT8_T, "int8_t", false }, { MPI_UINT8_T, "uint8_t", false },
	{ MPI_INT16_T, "int16_t", false }, { MPI_UINT16_T, "uint16_t", false },
	{ MPI_UINT32_T, "uint32_t", false }, { MPI_UINT64_T, "uint64_t", false },
	{ MPI_AINT, "aint", false }, { MPI_INTEGER, "integer", false },
	{ MPI_DOUBLE_PRECISION, "double precision", true },
};

static const struct {
	MPI_Op op;
	const char *name;
	bool is_of_bits;
} ops[] = {
	{ MPI_SUM, "sum", false }, { MPI_PROD, "prod", false },
	{ MPI_MIN, "min", false }, { MPI_MAX, "max", false },
	{ MPI_BAND, "band", true }, { MPI_BOR, "bor", true },
	{ MPI_BXOR, "bxor", true },
};

static const int counts[] = { 1, 7, 1000, MOST };

static char *given, *got, *wanted;
static size_t room;

/* ---- values -------------------------------------------------------------------- */

static void put(char *to, const struct element *element, int size, int value)
{
	double whole = value;
	float half = (float)value;
	int64_t integer = value;

	if (!element->is_float)
		memcpy(to, &integer, (size_t)size);
	else if (size == 8)
		memcpy(to, &whole, sizeof(whole));
	else
		memcpy(to, &half, sizeof(half));
}

static int size_of(MPI_Datatype type)
{
	int size;

	PMPI_Type_size(type, &size);
	return size;
}

/* 1 to 3: a product of four ranks fits into each type. */
static void fill(const struct element *element, int count)
{
	int size = size_of(element->type);

	for (int i = 0; i < count; i++)
		put(given + (size_t)i * (size_t)size, element, size,
		    1 + (i * 7 + rank * 5 + i / 11) % 3);
}

static void spoil(size_t bytes)
{
	memset(got, 0x5a, bytes);
	memset(wanted, 0x5a, bytes);
}

static void compare(size_t bytes, const char *what, const char *type, int count)
{
	if (!memcmp(got, wanted, bytes))
		return;
	printf("rank %d: %s of %d %s: another result\n", rank, what, count, type);
	bad = 1;
}

/* ---- reductions ------------------------------------------------------------------- */

static void reduce_one(const struct element *element, MPI_Op op,
		       const char *name, int count)
{
	MPI_Datatype type = element->type;
	size_t bytes = (size_t)count * (size_t)size_of(type);
	int root = count % ranks;

	fill(element, count);
	spoil(bytes);
	MPI_Allreduce(given, got, count, type, op, MPI_COMM_WORLD);
	PMPI_Allreduce(given, wanted, count, type, op, MPI_COMM_WORLD);
	compare(bytes, name, element->name, count);
	memcpy(got, given, bytes);
	MPI_Allreduce(MPI_IN_PLACE, got, count, type, op, MPI_COMM_WORLD);
	compare(bytes, "in place", element->name, count);
	spoil(bytes);
	MPI_Reduce(given, got, count, type, op, root, MPI_COMM_WORLD);
	PMPI_Reduce(given, wanted, count, type, op, root, MPI_COMM_WORLD);
	compare(bytes, "reduce", element->name, count);
	memcpy(got, given, bytes);
	MPI_Reduce(rank == root ? MPI_IN_PLACE : got, got, count, type, op,
		   root, MPI_COMM_WORLD);
	if (rank == root)
		compare(bytes, "reduce in place", element->name, count);
	served += 4;
}

static void scatter_one(const struct element *element, MPI_Op op, int count)
{
	MPI_Datatype type = element->type;
	size_t bytes = (size_t)count * (size_t)size_of(type);

	fill(element, count * ranks);
	spoil(bytes);
	MPI_Reduce_scatter_block(given, got, count, type, op, MPI_COMM_WORLD);
	PMPI_Reduce_scatter_block(given, wanted, count, type, op, MPI_COMM_WORLD);
	compare(bytes, "reduce-scatter", element->name, count);
	memcpy(got, given, bytes * (size_t)ranks);
	MPI_Reduce_scatter_block(MPI_IN_PLACE, got, count, type, op,
				 MPI_COMM_WORLD);
	compare(bytes, "reduce-scatter in place", element->name, count);
	served += 2;
}

/* Each type, each operation on two of them, and what is cut into pieces */
static void reductions(void)
{
	for (size_t e = 0; e < ARRAY_SIZE(elements); e++)
		reduce_one(&elements[e], ops[e % 4].op, ops[e % 4].name,
			   counts[e % 3]);
	for (size_t o = 0; o < ARRAY_SIZE(ops); o++)
		reduce_one(&elements[2], ops[o].op, ops[o].name, 7);
	reduce_one(&elements[9], MPI_BXOR, "bxor", 1000);
	reduce_one(&elements[0], MPI_SUM, "sum", MOST);
	for (size_t c = 0; c < ARRAY_SIZE(counts); c++)
		scatter_one(&elements[c], MPI_SUM, counts[c]);
}

/* ---- data of any type --------------------------------------------------------------- */

/* Every third int; the same signature as so many ints in a row */
static MPI_Datatype column(int count)
{
	MPI_Datatype type;

	PMPI_Type_vector(count, 1, 3, MPI_INT, &type);
	PMPI_Type_commit(&type);
	return type;
}

/* Two ints without a gap, the second one first */
static MPI_Datatype swapped(void)
{
	MPI_Datatype type;
	int places[] = { 1, 0 };

	PMPI_Type_create_indexed_block(2, 1, places, MPI_INT, &type);
	PMPI_Type_commit(&type);
	return type;
}

static void gather_one(int count)
{
	size_t bytes = (size_t)count * (size_t)ranks * sizeof(int);
	MPI_Datatype type = column(count);

	fill(&elements[2], count);
	spoil(bytes);
	MPI_Allgather(given, count, MPI_INT, got, count, MPI_INT, MPI_COMM_WORLD);
	PMPI_Allgather(given, count, MPI_INT, wanted, count, MPI_INT,
		       MPI_COMM_WORLD);
	compare(bytes, "all-gather", "int", count);
	memset(got, 0, bytes);
	memcpy(got + (size_t)(rank * count) * sizeof(int), given,
	       (size_t)count * sizeof(int));
	MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, got, count, MPI_INT,
		      MPI_COMM_WORLD);
	compare(bytes, "all-gather in place", "int", count);
	spoil(3 * bytes);
	MPI_Allgather(given, count, MPI_INT, got, 1, type, MPI_COMM_WORLD);
	PMPI_Allgather(given, count, MPI_INT, wanted, 1, type, MPI_COMM_WORLD);
	compare(3 * bytes, "all-gather of columns", "int", count);
	PMPI_Type_free(&type);
	served += 3;
}

/* The root has an array, and the others a type with gaps, or the other way. */
static void broadcast_one(int count, int root, bool is_column_at_root)
{
	size_t bytes = 3 * (size_t)count * sizeof(int);
	bool is_column = (rank == root) == is_column_at_root;
	MPI_Datatype type = column(count), used = is_column ? type : MPI_INT;
	int times = is_column ? 1 : count;

	fill(&elements[2], 3 * count);
	spoil(bytes);
	if (rank == root) {
		memcpy(got, given, bytes);
		memcpy(wanted, given, bytes);
	}
	MPI_Bcast(got, times, used, root, MPI_COMM_WORLD);
	PMPI_Bcast(wanted, times, used, root, MPI_COMM_WORLD);
	compare(bytes, "broadcast", is_column ? "columns" : "int", count);
	PMPI_Type_free(&type);
	served++;
}

static void broadcast_swapped(void)
{
	MPI_Datatype type = swapped(), used = rank ? MPI_INT : type;
	int times = rank ? 2 : 1;

	spoil(8);
	fill(&elements[2], 2);
	memcpy(got, (int []){ rank + 1, rank + 2 }, 8);
	memcpy(wanted, got, 8);
	MPI_Bcast(got, times, used, 0, MPI_COMM_WORLD);
	PMPI_Bcast(wanted, times, used, 0, MPI_COMM_WORLD);
	compare(8, "broadcast", "swapped ints", 2);
	PMPI_Type_free(&type);
	served++;
}

static void data(void)
{
	for (size_t c = 0; c < ARRAY_SIZE(counts); c++) {
		gather_one(counts[c] / 3 + 1);
		for (int root = 0; root < ranks; root++)
			broadcast_one(counts[c] / 3 + 1, root, root % 2);
	}
	broadcast_swapped();
}

/* ---- what is for MPI, and other communicators ------------------------------------------ */

static void left_one(void *in, void *inout, int *length, MPI_Datatype *type)
{
	(void)type;
	memcpy(inout, in, (size_t)*length * sizeof(int));
}

static void sum_in(MPI_Comm comm, const char *what)
{
	fill(&elements[2], 100);
	spoil(400);
	MPI_Allreduce(given, got, 100, MPI_INT, MPI_SUM, comm);
	PMPI_Allreduce(given, wanted, 100, MPI_INT, MPI_SUM, comm);
	compare(400, what, "int", 100);
}

static void others(void)
{
	struct { double value; int at; } pair = { rank % 2, rank }, most;
	MPI_Comm copy, half, turned;
	MPI_Op op;
	int level;

	MPI_Comm_dup(MPI_COMM_WORLD, &copy);
	sum_in(copy, "sum in a copy");
	MPI_Query_thread(&level);
	served += level != MPI_THREAD_MULTIPLE;
	MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
	sum_in(half, "sum in a half");
	MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &turned);
	sum_in(turned, "sum in another order");
	MPI_Barrier(half);
	MPI_Comm_free(&copy);
	MPI_Comm_free(&half);
	MPI_Comm_free(&turned);
	MPI_Op_create(left_one, 0, &op);
	MPI_Allreduce(given, got, 10, MPI_INT, op, MPI_COMM_WORLD);
	MPI_Op_free(&op);
	MPI_Allreduce(&pair, &most, 1, MPI_DOUBLE_INT, MPI_MAXLOC,
		      MPI_COMM_WORLD);
	bad |= most.at != 1;
	MPI_Allreduce(given, got, 0, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	MPI_Bcast(NULL, 0, MPI_INT, 0, MPI_COMM_WORLD);
}

/*
 * The first rank owes the last one most of a message while it waits for it in a
 * collective.
 */
static void owing(void)
{
	const int bytes = 1 << 20;
	char *message = calloc(1, (size_t)bytes);
	MPI_Request request;
	long one = 1, all = 0;

	if (!rank) {
		message[bytes - 1] = 42;
		MPI_Isend(message, bytes, MPI_BYTE, ranks - 1, 7, MPI_COMM_WORLD,
			  &request);
	} else if (rank == ranks - 1) {
		MPI_Recv(message, bytes, MPI_BYTE, 0, 7, MPI_COMM_WORLD,
			 MPI_STATUS_IGNORE);
		bad |= message[bytes - 1] != 42;
	}
	MPI_Allreduce(&one, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
	bad |= all != ranks;
	if (!rank)
		MPI_Wait(&request, MPI_STATUS_IGNORE);
	MPI_Barrier(MPI_COMM_WORLD);
	served += 2;
	free(message);
}

static const struct {
	const char *name;
	void (*run)(void);
	bool is_for_threads;	/* makes a difference there */
} cases[] = {
	{ "reductions", reductions, false }, { "data", data, false },
	{ "others", others, true }, { "owing", owing, true },
};

int main(int argc, char **argv)
{
	bool has_threads = argc > 1 && !strcmp(argv[1], "threads");
	int level;

	MPI_Init_thread(&argc, &argv, has_threads ? MPI_THREAD_MULTIPLE :
			MPI_THREAD_SINGLE, &level);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	room = (size_t)MOST * 8 * (size_t)ranks;
	given = malloc(room);
	got = malloc(room);
	wanted = malloc(room);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		if (has_threads && !cases[i].is_for_threads)
			continue;
		cases[i].run();
		PMPI_Allreduce(MPI_IN_PLACE, &bad, 1, MPI_INT, MPI_BOR,
			       MPI_COMM_WORLD);
		if (!rank)
			printf("%s %s\n", bad ? "wrong" : "right", cases[i].name);
	}
	if (!rank)
		printf("for the group: %ld calls\n", served);
	free(given);
	free(got);
	free(wanted);
	MPI_Finalize();
	return bad;
}
