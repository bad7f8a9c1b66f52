/** Reads JSON from the command line: the arguments of a call, facts, and configurations. */

import type { JsonObject } from '../core.ts';
import { messageOf } from '../values/errors/index.ts';
import type { CliIo } from './cli-io.ts';
import { failure, usageFault } from './fault.ts';
import { readStdin, readTextFile } from './read-text.ts';

/** Maximum bytes of a text. Pretty-printed, an input may be well above the limit of a call. */
const maxBytes = 8 * 1_048_576;

/**
 * Reads `--input`. Without it, the input is `{}`.
 * @throws CliFault 1 if it cannot be read, 2 if it is not JSON
 */
export async function readInput(option: string | undefined, io: CliIo): Promise<unknown> {
  return option === undefined ? {} : readOption(option, '`--input`', io);
}

/**
 * Reads `--facts`. Without it, there are no facts.
 * @throws CliFault 1 if it cannot be read, 2 if it is not a JSON object
 */
export async function readFacts(option: string | undefined, io: CliIo): Promise<JsonObject> {
  return readObject(option, '`--facts`', '{"hostSession.status":"ready"}', io);
}

/**
 * Reads `--config`. Without it, the configuration is `{}`.
 * @throws CliFault 1 if it cannot be read, 2 if it is not a JSON object
 */
export async function readConfig(option: string | undefined, io: CliIo): Promise<JsonObject> {
  return readObject(option, '`--config`', '{"folder":"notes"}', io);
}

async function readObject(
  option: string | undefined,
  name: string,
  example: string,
  io: CliIo,
): Promise<JsonObject> {
  if (option === undefined) return {};
  const value = await readOption(option, name, io);
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw usageFault(`Expected ${name} to be a JSON object, such as '${example}'.`);
  return value as JsonObject;
}

/** Reads JSON, `@file` or `-`. */
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
