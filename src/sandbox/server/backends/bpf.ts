// The instructions of a system call filter, and their bytes: linux/filter.h, linux/seccomp.h.

export type Architecture = 'x64' | 'arm64';

export const AUDIT_ARCH: Record<Architecture, number> = { x64: 0xc000003e, arm64: 0xc00000b7 };
/** linux/errno.h */
export const EPERM = 1;
export const ENOSYS = 38;
export const EINVAL = 22;
export const EOPNOTSUPP = 95;
export const EAFNOSUPPORT = 97;
export const ALLOW = 0x7fff0000;
const KILL_PROCESS = 0x80000000;
export const errnoAnswer = (errno: number): number => 0x00050000 | errno;

/** Beyond the newest call of the table's libseccomp; calls of newer kernels are missing here. */
const NEWEST = 450;

/** The process that ends a run. Starved of CPU, it ends nothing. */
const FIRST_PROCESS = 1;

export const LOAD = 0x20;
const RETURN = 0x06;
export const JUMP_EQUAL = 0x15;
const JUMP_GREATER = 0x25;
const JUMP_SET = 0x45;
const NUMBER_AT = 0;
const ARCH_AT = 4;
export const FIRST_ARGUMENT_AT = 16;

export type Instruction = readonly [code: number, whenTrue: number, whenFalse: number, value: number];
export const give = (value: number): Instruction => [RETURN, 0, 0, value];

/** Skips the block if the number is not this call's; every block ends the filter. */
export const block = (number: number, body: Instruction[]): Instruction[] =>
  number < 0 ? [] : [[JUMP_EQUAL, 0, body.length, number], ...body];

/** Applies only if the first argument is one of these. */
export const onlyFor = (values: readonly number[], errno: number): Instruction[] => [
  [LOAD, 0, 0, FIRST_ARGUMENT_AT],
  ...values.map((value, index): Instruction => [JUMP_EQUAL, values.length - index, 0, value]),
  give(errnoAnswer(errno)),
  give(ALLOW),
];
/** Refuses if the argument at this position is the first process. */
export const notFirst = (at: number): Instruction[] => [
  [LOAD, 0, 0, FIRST_ARGUMENT_AT + 8 * at],
  [JUMP_EQUAL, 0, 1, FIRST_PROCESS],
  give(errnoAnswer(EPERM)),
  give(ALLOW),
];
/** If the first argument has one bit, it must have the other too. */
export const together = (bit: number, other: number, errno: number): Instruction[] => [
  [LOAD, 0, 0, FIRST_ARGUMENT_AT],
  [JUMP_SET, 0, 2, bit],
  [JUMP_SET, 1, 0, other],
  give(errnoAnswer(errno)),
];
export const withBits = (bits: number, errno: number): Instruction[] => [
  [LOAD, 0, 0, FIRST_ARGUMENT_AT],
  [JUMP_SET, 1, 0, bits],
  give(errnoAnswer(errno)),
  give(ALLOW),
];
export const withoutBits = (bits: number, errno: number): Instruction[] => [
  [LOAD, 0, 0, FIRST_ARGUMENT_AT],
  [JUMP_SET, 0, 1, bits],
  give(errnoAnswer(errno)),
  give(ALLOW),
];
/** Applies unless the first argument is one of these. */
export const isNot = (values: readonly number[], errno: number): Instruction[] => [
  [LOAD, 0, 0, FIRST_ARGUMENT_AT],
  ...values.map((value, index): Instruction => [JUMP_EQUAL, values.length - index, 0, value]),
  give(ALLOW),
  give(errnoAnswer(errno)),
];
/** The same for the second argument. */
export const secondIsNot = (values: readonly number[], errno: number): Instruction[] => [
  [LOAD, 0, 0, FIRST_ARGUMENT_AT + 8],
  ...values.map((value, index): Instruction => [JUMP_EQUAL, values.length - index, 0, value]),
  give(ALLOW),
  give(errnoAnswer(errno)),
];

export function filterProgram(machine: Architecture, answers: readonly Instruction[]): Buffer {
  return assemble([
    [LOAD, 0, 0, ARCH_AT],
    [JUMP_EQUAL, 1, 0, AUDIT_ARCH[machine]],
    give(KILL_PROCESS),
    [LOAD, 0, 0, NUMBER_AT],
    // x32 calls of x86-64 are far above, too.
    [JUMP_GREATER, 0, 1, NEWEST],
    give(errnoAnswer(ENOSYS)),
    ...answers,
    give(ALLOW),
  ]);
}

function assemble(program: readonly Instruction[]): Buffer {
  const bytes = Buffer.alloc(program.length * 8);
  for (const [index, [code, whenTrue, whenFalse, value]] of program.entries()) {
    bytes.writeUInt16LE(code, index * 8);
    bytes.writeUInt8(whenTrue, index * 8 + 2);
    bytes.writeUInt8(whenFalse, index * 8 + 3);
    bytes.writeUInt32LE(value >>> 0, index * 8 + 4);
  }
  return bytes;
}
