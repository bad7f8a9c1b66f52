/** Parses YAML and JSON files of the command line, whose faults are reported with their lines. */

import { TextFault } from '../surfaces/config/places.ts';
import { readJson } from '../surfaces/config/read-json.ts';
import { yamlReader } from '../surfaces/config/read-yaml.ts';
import { messageOf } from '../values/errors/index.ts';
import { failure } from './fault.ts';

/** The line at which a part of a document begins, from 1. */
export type LineOf = (path: readonly (string | number)[]) => number;

/** A parsed file. */
export interface ReadDocument {
  readonly value: unknown;
  readonly lineOf: LineOf;
}

/**
 * Parses as for files of tools: `.json` is JSON, any other name is YAML.
 * @param file the name for messages
 * @throws CliFault 1 with `file:line: reason`
 */
export async function readDocument(file: string, text: string): Promise<ReadDocument> {
  const lines = lineStarts(text);
  try {
    const read = /\.json$/i.test(file) ? readJson : await yamlReader();
    const { value, place } = read(text);
    const lineOf: LineOf = (path) => {
      let found = place;
      for (const step of path) {
        const next = found.inside?.get(step);
        if (next === undefined) break;
        found = next;
      }
      return lineAt(lines, found.at);
    };
    return { value, lineOf };
  } catch (error) {
    throw failure(
      error instanceof TextFault
        ? `${file}:${lineAt(lines, error.at)}: ${error.message}`
        : `${file}: ${messageOf(error)}`,
    );
  }
}

function lineStarts(text: string): readonly number[] {
  const starts = [0];
  for (let index = text.indexOf('\n'); index !== -1; index = text.indexOf('\n', index + 1))
    starts.push(index + 1);
  return starts;
}

/** From 1. */
function lineAt(starts: readonly number[], at: number): number {
  let [low, high] = [0, starts.length];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if ((starts[middle] as number) <= at) low = middle;
    else high = middle;
  }
  return low + 1;
}
