/** JSON from the command line: arguments of a call, facts. */
import type { JsonObject } from '../index.ts';
import type { CliIo } from './cli-io.ts';
import { messageOf, usageFault } from './fault.ts';
import { readStdin, readTextFile } from './read-text.ts';

/** Most bytes of an input's text: pretty-printed, it may be well above what a call admits. */
const maxInputBytes = 8 * 1_048_576;

/** Reads `--input`: JSON, `@file` or `-`; `{}` where it is absent. @throws CliFault 2. */
export async function readInput(option: string | undefined, io: CliIo): Promise<unknown> {
  if (option === undefined) return {};
  if (option === '-') {
    const text = await readStdin(io, maxInputBytes).catch((error: unknown) => {
      throw io.signal.aborted ? error : usageFault(`Cannot read the input from standard input: ${messageOf(error)}.`);
    });
    return parseJson(text, 'standard input');
  }
  if (option.startsWith('@')) {
    const path = option.slice(1);
    const text = await readTextFile(path, io, maxInputBytes).catch((error: unknown) => {
      throw usageFault(`Cannot read the input from \`${path}\`: ${messageOf(error)}.`);
    });
    return parseJson(text, `\`${path}\``);
  }
  return parseJson(option, '`--input`');
}

/** Reads `--facts`. @throws CliFault 2. */
export function readFacts(option: string | undefined): JsonObject {
  if (option === undefined) return {};
  const facts = parseJson(option, '`--facts`');
  if (typeof facts !== 'object' || facts === null || Array.isArray(facts))
    throw usageFault('Expected `--facts` to be a JSON object, such as \'{"hostSession.status":"ready"}\'.');
  return facts as JsonObject;
}

function parseJson(text: string, where: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw usageFault(`Expected ${where} to be JSON: ${messageOf(error)}. Quote it for the shell, or give \`@file\` or \`-\`.`);
  }
}
