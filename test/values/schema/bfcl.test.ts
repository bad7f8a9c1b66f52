import { readdirSync, readFileSync } from 'node:fs';
import { Ajv, type ValidateFunction } from 'ajv';
import { describe, expect, test } from 'vitest';
import type { JsonObject, JsonValue } from '../../../src/values/json/index.ts';
import {
  type CompiledSchema,
  checkSchema,
  compileSchema,
} from '../../../src/values/json-schema/compile.ts';
import { gateSchema } from '../../../src/values/json-schema/gate.ts';

const data = new URL('../../data/', import.meta.url);
const lines = <T>(name: string): T[] =>
  readFileSync(new URL(name, data), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as T);

const tools = lines<{ id: string; parameters: JsonObject }>('bfcl-sample-tools.jsonl');
const calls = lines<{ tool: string; arguments: JsonValue; valid: boolean }>(
  'bfcl-sample-calls.jsonl',
);

describe('real function definitions', () => {
  const ajv = new Ajv({ allErrors: false, strict: false, logger: false });
  const validators = new Map<string, { ours: CompiledSchema; theirs: ValidateFunction }>();
  for (const { id, parameters } of tools)
    validators.set(id, {
      ours: compileSchema(parameters, { trusted: false }),
      theirs: ajv.compile(parameters),
    });

  test('every call is answered as its label says, and as ajv answers', () => {
    const wrong: unknown[] = [];
    for (const call of calls) {
      const { ours, theirs } = validators.get(call.tool) as {
        ours: CompiledSchema;
        theirs: ValidateFunction;
      };
      const expected = theirs(call.arguments);
      const accepted = ours.validate(structuredClone(call.arguments)) === undefined;
      if (accepted !== call.valid || accepted !== expected) wrong.push(call);
    }
    expect(wrong).toEqual([]);
    expect(calls.length).toBeGreaterThan(4_000);
  });

  test('a valid call keeps what it holds, and only gains defaults', () => {
    for (const call of calls.filter(({ valid }) => valid)) {
      const copy = structuredClone(call.arguments);
      validators.get(call.tool)?.ours.validate(copy);
      expect(copy).toMatchObject(call.arguments as object);
    }
  });

  test('none is refused at the gate, and only defaults are left out that they refuse', () => {
    // A default of null that the schema refuses is left out without a note.
    const withoutNulls = (schema: unknown): string =>
      JSON.stringify(schema, (name, value) =>
        name === 'default' && value === null ? undefined : value,
      );
    const left = tools.flatMap(({ parameters }) => {
      const gated = gateSchema(parameters);
      if (gated.left.length === 0)
        expect(withoutNulls(gated.schema)).toBe(withoutNulls(parameters));
      return gated.left;
    });
    expect(new Set(left.map(({ message }) => message))).toEqual(
      new Set(['its own schema refuses this default, so it is not filled in']),
    );
    expect(left.length).toBeLessThan(tools.length / 20);
  });
});

describe('schemas of real MCP servers', () => {
  for (const name of readdirSync(new URL('mcp-schemas/', data))) {
    test(`${name} passes the gate and compiles`, () => {
      const servers = JSON.parse(readFileSync(new URL(`mcp-schemas/${name}`, data), 'utf8')) as {
        inputSchema: JsonObject;
        outputSchema?: JsonObject;
      }[];
      expect(servers.length).toBeGreaterThan(0);
      for (const { inputSchema, outputSchema } of servers) {
        for (const schema of [inputSchema, outputSchema].filter((item) => item !== undefined)) {
          expect(checkSchema(schema, { trusted: true }).nativePatterns).toEqual([]);
          const gated = gateSchema(schema);
          expect(gated.left).toEqual([]);
          compileSchema(gated.schema, { trusted: false });
        }
      }
    });
  }
});
