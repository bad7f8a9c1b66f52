/** JSON from the command line: arguments of a call, facts. */

import { messageOf } from '../errors.ts';
import type { JsonObject } from '../index.ts';
import type { CliIo } from './cli-io.ts';
import { failure, usageFault } from './fault.ts';
import { readStdin, readTextFile } from './read-text.ts';

/** Most bytes of a text: pretty-printed, an input may be well above what a call admits. */
const maxBytes = 8 * 1_048_576;

/**
 * Reads `--input`; `{}` where it is absent. @throws CliFault 1 where it cannot be read, 2 where it
 * is not what is expected.
 */
export async function readInput(option: string | undefined, io: CliIo): Promise<unknown> {
  return option === undefined ? {} : readOption(option, '`--input`', io);
}

/**
 * Reads `--facts`; `{}` where it is absent. @throws CliFault 1 where it cannot be read, 2 where it
 * is not what is expected.
 */
export async function readFacts(option: string | undefined, io: CliIo): Promise<JsonObject> {
  if (option === undefined) return {};
  const facts = await readOption(option, '`--facts`', io);
  if (typeof facts !== 'object' || facts === null || Array.isArray(facts))
    throw usageFault(
      'Expected `--facts` to be a JSON object, such as \'{"hostSession.status":"ready"}\'.',
    );
  return facts as JsonObject;
}

/** JSON, `@file` or `-`. */
async function readOption(option: string, name: string, io: CliIo): Promise<unknown> {
  if (option === '-') {
    const text = await readStdin(io, maxBytes).catch((error: unknown) => {
      throw io.signal.aborted ? error : failure(`Cannot read standard input: ${messageOf(error)}.`);
    });
    return parseJson(text, 'standard input');
  }
  if (option.startsWith('@')) {
    const path = option.slice(1);
    const text = await readTextFile(path, io, maxBytes).catch((error: unknown) => {
      throw io.signal.aborted ? error : failure(`Cannot read \`${path}\`: ${messageOf(error)}.`);
    });
    return parseJson(text, `\`${path}\``);
  }
  return parseJson(option, name);
}

function parseJson(text: string, where: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw usageFault(
      `Expected ${where} to be JSON: ${messageOf(error)}. Quote it for the shell, or give ` +
        `\`@file\` or \`-\`.`,
    );
  }
}
