/** `replay`: replays a recorded trace and compares the result. */
import { messageOf } from '../values/errors/index.ts';
import type { Command } from './command.ts';
import { failure } from './fault.ts';
import { printable } from './printable.ts';
import { readTextFile } from './read-text.ts';

const maxTraceBytes = 256 * 1_048_576;

export const replay: Command = {
  name: 'replay',
  usage: 'FILE',
  summary: 'replay the trace of a workflow and compare it',
  notes: [
    'It prints the hash of the final state, or the first difference with exit code 1. No tool ' +
      'runs.',
  ],
  options: [],
  operands: ['FILE'],
  async run({ io, operands: [file = ''] }) {
    const text = await readTextFile(file, io, maxTraceBytes).catch((error: unknown) => {
      throw failure(`Cannot read \`${file}\`: ${messageOf(error)}.`);
    });
    const { replayTrace } = await import('../surfaces/workflow/index.ts');
    const outcome = replayed(() => replayTrace(text), file);
    if (outcome.same)
      return {
        exit: 0,
        text:
          `${printable(outcome.hash)}\n${outcome.events} ` +
          `${outcome.events === 1 ? 'event' : 'events'}, the same result.`,
        json: outcome,
      };
    const { line, at, expected, found } = outcome;
    return {
      exit: 1,
      text: [
        `${printable(file)}:${line}: the replay differs at ${printable(at)}`,
        `  recorded  ${printable(expected)}`,
        `  replayed  ${printable(found)}`,
      ].join('\n'),
      json: outcome,
    };
  },
};

function replayed<T>(run: () => T, file: string): T {
  try {
    return run();
  } catch (error) {
    throw failure(`Cannot replay \`${file}\`: ${messageOf(error)}`);
  }
}
