/**
 * A filter of system calls that keeps an agent from typing into the terminal it was started in: the
 * shell would run that once the agent has ended (CVE-2017-5226).
 */

/** A step of the filter: its code, the steps to skip if true and if false, and its value. */
type Step = readonly [code: number, yes: number, no: number, value: number];

const load = 0x20;
const isEqual = 0x15;
const answer = 0x06;
const [allow, notPermitted] = [0x7fff0000, 0x00050001];
const ioctl = { x64: 16, x32: 0x40000202, arm64: 29, bits32: 54 };
/** Requests that put text into the input of a terminal. */
const [TIOCSTI, TIOCLINUX] = [0x5412, 0x541c];

const steps: readonly Step[] = [
  // The architecture of the call.
  [load, 0, 0, 4],
  [isEqual, 4, 0, 0xc000003e],
  [isEqual, 7, 0, 0xc00000b7],
  [isEqual, 9, 0, 0x40000003],
  [isEqual, 8, 0, 0x40000028],
  [answer, 0, 0, allow],
  // The number of the call: of a 64-bit PC, ...
  [load, 0, 0, 0],
  [isEqual, 8, 0, ioctl.x64],
  [isEqual, 7, 0, ioctl.x32],
  [answer, 0, 0, allow],
  // ... of 64-bit ARM, ...
  [load, 0, 0, 0],
  [isEqual, 4, 0, ioctl.arm64],
  [answer, 0, 0, allow],
  // ... and of both with 32 bits.
  [load, 0, 0, 0],
  [isEqual, 1, 0, ioctl.bits32],
  [answer, 0, 0, allow],
  // The request, of which the kernel reads the lower half.
  [load, 0, 0, 24],
  [isEqual, 2, 0, TIOCSTI],
  [isEqual, 1, 0, TIOCLINUX],
  [answer, 0, 0, allow],
  [answer, 0, 0, notPermitted],
];

/**
 * The program for `bwrap --seccomp`. Undefined for other processors, where the agent gets a
 * terminal session of its own instead.
 */
export function terminalFilter(processor: string): Uint8Array | undefined {
  if (processor !== 'x64' && processor !== 'arm64') return undefined;
  const program = Buffer.alloc(steps.length * 8);
  for (const [at, [code, yes, no, value]] of steps.entries()) {
    program.writeUInt16LE(code, at * 8);
    program.writeUInt8(yes, at * 8 + 2);
    program.writeUInt8(no, at * 8 + 3);
    program.writeUInt32LE(value, at * 8 + 4);
  }
  return program;
}
