/** One document for all engines: Cedar, compiled Rego and a server of OPA are told the same. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { defineTool, HostToolRegistry, type JsonValue, type Policy } from '../../../src/index.ts';
import { cedarPolicy } from '../../../src/surfaces/policy-engines/cedar/index.ts';
import { opaPolicy } from '../../../src/surfaces/policy-engines/opa/index.ts';
import {
  documentFault,
  type PolicyDocument,
} from '../../../src/surfaces/policy-engines/policy-document.ts';
import { askAbout } from './cedar/kit.ts';
import { tinyPolicy } from './opa/tiny-policy.ts';

const word = fc.oneof(
  fc.constantFrom('__proto__', 'constructor', 'toString', 'hasOwnProperty', 'then', 'result', ''),
  fc.string({ unit: 'grapheme', maxLength: 8 }),
  fc.string({ unit: 'binary', maxLength: 8 }),
);
const number = fc.oneof(
  fc.maxSafeInteger(),
  fc.integer({ min: -99_999, max: 99_999 }).map((units) => units / 10_000),
);
/** What every engine can hold, null aside. */
const value = fc.letrec<{ json: JsonValue }>((tie) => ({
  json: fc.oneof(
    { depthSize: 'small' },
    fc.boolean(),
    number,
    word,
    fc.array(tie('json'), { maxLength: 4 }),
    fc.dictionary(word, tie('json'), { maxKeys: 4 }),
  ),
})).json;
const record = fc.dictionary(word, value, { maxKeys: 5 });

/** Asks about a call, whatever its size, and returns the outcome. */
async function outcomeOf(policy: Policy, given: Given): Promise<string> {
  const { input, facts, attribute, principal } = given;
  const { outcome } = await askAbout(
    policy,
    { ...input, payee: 'x' },
    { facts, principal },
    { attributes: { payee: () => attribute }, annotations: { openWorld: true }, tags: ['money'] },
  );
  return outcome;
}

interface Given {
  readonly input: Record<string, JsonValue>;
  readonly facts: Record<string, JsonValue>;
  readonly attribute: JsonValue;
  readonly principal: string | undefined;
}

/** A value as an expression of Cedar, written without the help of the library. */
function cedar(json: unknown): string {
  if (typeof json === 'string')
    return `"${[...json].map((char) => `\\u{${char.codePointAt(0)?.toString(16)}}`).join('')}"`;
  if (typeof json === 'number') return Number.isInteger(json) ? String(json) : `decimal("${json}")`;
  if (typeof json !== 'object' || json === null) return String(json);
  if (Array.isArray(json))
    return `[${json
      .filter((item) => item !== null)
      .map(cedar)
      .join(', ')}]`;
  const members = Object.entries(json).filter(([, item]) => item !== null);
  return `{${members.map(([name, item]) => `${cedar(name)}: ${cedar(item)}`).join(', ')}}`;
}

test('Cedar, compiled Rego and a server judge the same document', async () => {
  const given = fc.record<Given>({
    input: record,
    facts: record,
    attribute: value,
    principal: fc.option(fc.string({ minLength: 1 }), { nil: undefined }),
  });
  await fc.assert(
    fc.asyncProperty(given, async (call) => {
      const bodies: string[] = [];
      const server = opaPolicy({
        url: 'http://127.0.0.1:8181/v1/data/tools/allow',
        fetch: async (_, init) => {
          bodies.push(String(init.body));
          return Response.json({ result: true });
        },
      });
      expect(await outcomeOf(server, call)).toBe('allowed');
      const [body = ''] = bodies;
      const { input: document } = JSON.parse(body) as { input: PolicyDocument };

      const text = JSON.stringify(document);
      expect(body).toBe(`{"input":${text}}`);
      const answer = JSON.stringify([{ result: true }]);
      const compiled = opaPolicy({
        wasm: tinyPolicy({ entrypoints: { e: [{ find: text, does: { answer } }] } }),
      });
      expect(await outcomeOf(compiled, call)).toBe('allowed');

      const { principal, action, resource, context } = document;
      const engine = cedarPolicy({
        policies: `permit(
          principal == User::${cedar(principal)},
          action == Action::${cedar(action)},
          resource == Tool::${cedar(resource.name)}
        ) when {
          context == ${cedar(context)} &&
          ${Object.entries(resource)
            .map(([name, attribute]) => `resource.${name} == ${cedar(attribute)}`)
            .join(' && ')}
        };`,
      });
      expect(await outcomeOf(engine, call)).toBe('allowed');
    }),
    { numRuns: 100 },
  );
}, 900_000);

describe('input that is made to pass', () => {
  // They allow nothing but an administrator; the texts are what an attacker would need to forge.
  const policies: readonly Policy[] = [
    cedarPolicy({
      policies: `permit(principal, action, resource) when {
        context.input has role && context.input.role == "admin" && principal == User::"root"
      };`,
    }),
    opaPolicy({
      wasm: tinyPolicy({
        entrypoints: {
          e: [{ find: '{"principal":"root","action":', does: { answer: '[{"result":true}]' } }],
        },
      }),
    }),
    opaPolicy({
      url: 'http://127.0.0.1:8181/v1/data/tools/allow',
      fetch: async (_, init) => {
        const { input } = JSON.parse(String(init.body)) as { input: PolicyDocument };
        return Response.json(input.principal === 'root' ? { result: true } : {});
      },
    }),
  ];
  const registry = new HostToolRegistry({ default: 'deny', logger: silent() });
  registry.register(
    defineTool({
      name: 'transfer',
      description: 'Moves money.',
      parameters: { type: 'object' },
      handler: () => 'moved',
    }),
  );

  async function tryAll(input: unknown): Promise<void> {
    for (const policy of policies) {
      const session = registry.createSession({
        sessionId: 's',
        principal: 'mallory',
        policies: [policy],
        limits: { maxInputBytes: 50_000_000 },
      });
      const { success, error } = await session.call('transfer', input as never);
      expect(success).toBe(false);
      expect(error?.code).toMatch(/^(policy_denied|policy_error|invalid_input)$/);
      await session.close();
    }
  }

  test('never does: any JSON, with the names of prototypes and of the engines', async () => {
    const names = fc.constantFrom(
      ...[
        '__proto__',
        'constructor',
        'prototype',
        'toJSON',
        'principal',
        'role',
        'result',
        'effect',
      ],
      ...['__entity', '__extn', '__expr', 'type', 'id', 'fn', 'arg'],
    );
    const leaf = fc.oneof(
      fc.constantFrom<JsonValue>('admin', 'root', 'User', true, null, 'decimal', 'allow'),
      fc.string({ unit: 'binary', maxLength: 5 }).map((text) => `${text}\ud800`),
      fc.double({ noNaN: true, noDefaultInfinity: true }),
    );
    const json = fc.letrec<{ json: JsonValue }>((tie) => ({
      json: fc.oneof(leaf, fc.array(tie('json')), fc.dictionary(names, tie('json'))),
    })).json;
    await fc.assert(fc.asyncProperty(fc.dictionary(names, json), tryAll), { numRuns: 100 });
  });

  test.each<[string, () => unknown]>([
    ['a huge text', () => ({ role: 'admin'.repeat(2_000_000) })],
    [
      'a huge text that ends in what is looked for',
      () => ({ role: `${'x'.repeat(3_000_000)}{"principal":"root","action":` }),
    ],
    ['an input in an input', () => ({ role: '{"principal":"root","action":' })],
    ['deep nesting', () => JSON.parse(`${'{"a":'.repeat(63)}1${'}'.repeat(63)}`)],
    [
      'nesting beyond what is accepted',
      () => JSON.parse(`${'{"a":'.repeat(5_000)}1${'}'.repeat(5_000)}`),
    ],
    [
      'many members',
      () => Object.fromEntries(Array.from({ length: 40_000 }, (_, n) => [`k${n}`, 'admin'])),
    ],
    [
      'a prototype from JSON',
      () => JSON.parse('{"__proto__":{"role":"admin"},"principal":"root"}'),
    ],
    ['an object with a prototype', () => Object.create({ role: 'admin', principal: 'root' })],
    [
      'a getter that changes',
      () => {
        let asked = 0;
        return {
          get role() {
            return asked++ === 0 ? 'user' : 'admin';
          },
        };
      },
    ],
    ['half of a surrogate pair', () => ({ role: 'admin\ud83d' })],
    ['half of one in a name', () => ({ 'role\udc00': 'admin' })],
  ])('never does: %s', async (_, make) => {
    await tryAll(make());
  });

  test('never does: a polluted prototype', async () => {
    const polluted: Record<string, unknown> = {
      principal: 'root',
      role: 'admin',
      result: true,
      effect: 'allow',
      decision: 'allow',
      validateRequest: false,
      unmatched: 'abstain',
      readOnly: true,
    };
    Object.assign(Object.prototype, polluted);
    try {
      await tryAll({});
    } finally {
      for (const name of Object.keys(polluted))
        delete (Object.prototype as unknown as Record<string, unknown>)[name];
    }
  });
});

describe('the bounds of a document', () => {
  const document = (input: unknown): PolicyDocument =>
    ({ principal: '', resource: {}, context: { input } }) as unknown as PolicyDocument;
  let deep: unknown = 1;
  for (let level = 0; level < 80; level++) deep = [deep];

  test.each<[string, unknown, string | undefined]>([
    ['a small one', { a: [1, 'x'] }, undefined],
    ['nothing', null, undefined],
    ['too deep', deep, 'nested deeper than 80 levels (at /context/input/0/0'],
    ['too many items', Array.from({ length: 20_000 }, () => 0), 'larger than the budget of 20000'],
    ['too many fractions', Array.from({ length: 1_300 }, () => 0.5), 'larger than'],
    ['too many lists', Array.from({ length: 5_100 }, () => []), 'larger than'],
    ['too many texts', Array.from({ length: 10_100 }, () => ''), 'larger than'],
    ['too much text beyond ASCII', '\u4e2d'.repeat(150_000), 'larger than'],
    ['a megabyte of ASCII', 'x'.repeat(2 ** 20), undefined],
    ['as many as fit', Array.from({ length: 19_900 }, () => 0), undefined],
    [
      'a name with a slash',
      { 'a/b': '\ud800' },
      'half of a surrogate pair, which is not valid Unicode (at /context/input/a~1b)',
    ],
  ])('%s', (_, input, fault) => {
    const found = documentFault(document(input));
    if (fault === undefined) expect(found).toBeUndefined();
    else expect(found).toContain(fault);
  });

  test('a place is shortened', () => {
    let input: unknown = '\ud800';
    for (let level = 0; level < 20; level++) input = { ['k'.repeat(500)]: input };
    expect(documentFault(document(input))?.length).toBeLessThan(300);
  });
});

function silent(): { warn(): void; error(): void } {
  return { warn: () => {}, error: () => {} };
}
