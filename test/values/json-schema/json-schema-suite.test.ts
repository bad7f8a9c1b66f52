import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { isMisuseError } from '../../../src/values/errors/index.ts';
import type { JsonObject, JsonValue } from '../../../src/values/json/index.ts';
import {
  type CompiledSchema,
  compileSchema,
  type JsonSchemaDocument,
} from '../../../src/values/json-schema/compile.ts';
import refused from '../schema/refused.json' with { type: 'json' };

interface Group {
  readonly description: string;
  readonly schema: JsonSchemaDocument;
  readonly tests: readonly {
    readonly description: string;
    readonly data: JsonValue;
    readonly valid: boolean;
  }[];
}
interface Refusal {
  readonly file: string;
  readonly group: string;
  readonly test: string;
  readonly reason: string;
}

const root = new URL('../../data/json-schema-test-suite/', import.meta.url);
const drafts = [
  ['draft7', 'http://json-schema.org/draft-07/schema#'],
  ['draft2020-12', 'https://json-schema.org/draft/2020-12/schema'],
] as const;

function reasonOf(error: Error): string {
  if (error.message.includes('leads outside the document'))
    return 'refers to a document that is never fetched';
  if (error.message.includes('/$schema')) return 'names a custom dialect';
  return error.message;
}

function inDialect(schema: JsonSchemaDocument, $schema: string): JsonSchemaDocument {
  return typeof schema === 'boolean' || Object.hasOwn(schema, '$schema')
    ? schema
    : ({ $schema, ...schema } as JsonObject);
}

interface Answers {
  readonly file: string;
  readonly wrong: string[];
}

function run(trusted: boolean): { answers: Answers[]; refusals: Refusal[] } {
  const answers: Answers[] = [];
  const refusals: Refusal[] = [];
  for (const [draft, dialect] of drafts) {
    for (const name of readdirSync(new URL(draft, root)).sort()) {
      const file = `${draft}/${name}`;
      const wrong: string[] = [];
      answers.push({ file, wrong });
      for (const { description: group, schema, tests } of JSON.parse(
        readFileSync(new URL(file, root), 'utf8'),
      ) as Group[]) {
        let compiled: CompiledSchema;
        try {
          compiled = compileSchema(inDialect(schema, dialect), { trusted });
        } catch (error) {
          if (!isMisuseError(error)) throw error;
          refusals.push(
            ...tests.map((item) => ({
              file,
              group,
              test: item.description,
              reason: reasonOf(error),
            })),
          );
          continue;
        }
        for (const { description, data, valid } of tests) {
          if ((compiled.validate(data) === undefined) !== valid)
            wrong.push(`${valid ? 'rejects' : 'accepts'}: ${group}: ${description}`);
        }
      }
    }
  }
  return { answers, refusals };
}

describe.each([true, false])('the required JSON Schema test suite, trusted: %s', (trusted) => {
  const { answers, refusals } = run(trusted);
  test.each(answers)('$file is answered as the suite says, or refused as listed', ({ wrong }) => {
    expect(wrong).toEqual([]);
  });

  test('what is refused is exactly what refused.json lists', () => {
    expect(refusals).toEqual(refused);
  });

  test('the whole suite is there', () => {
    expect(answers.length).toBe(83);
  });
});
