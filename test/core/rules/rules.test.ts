import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Effect } from '../../../src/api/policy.ts';
import type { Rule } from '../../../src/api/rule.ts';
import type { ToolSummary } from '../../../src/api/tool.ts';
import { compileRules, tryRule } from '../../../src/assembly/compile.ts';
import { type CompiledRule, type Judged, maxRuleSteps } from '../../../src/core/rules/rule.ts';
import { MisuseError } from '../../../src/values/errors/index.ts';
import type { JsonObject, JsonValue } from '../../../src/values/json/index.ts';
import { charactersRead } from '../../values/text/character-reads.ts';

function compile(rule: Rule): CompiledRule {
  return compileRules([rule], 'session')[0]!;
}

function tool(name: string, rest: Partial<ToolSummary> = {}): ToolSummary {
  return { name, source: 'host', tags: [], annotations: {}, fingerprint: 'sha256:0', ...rest };
}

/**
 * What a call gives its rules to judge. @param declared Names at the root of the tool's schema; all
 * of them unless given.
 */
function judged(input: JsonValue, parsed: unknown = input, declared?: readonly string[]): Judged {
  return {
    input: input as JsonObject,
    parsed,
    declares: (name) => declared?.includes(name) ?? true,
    facts: {},
    surface: '',
    call: undefined,
    attributes: undefined,
    left: maxRuleSteps,
  };
}

function matches(
  effect: Effect,
  when: Rule['when'],
  input: JsonValue,
  parsed: unknown = input,
  declared?: readonly string[],
): boolean {
  return compile({ effect, when }).matches(judged(input, parsed, declared));
}

describe('a compiled rule', () => {
  test('has an id, its layer and, where it denies, a reason', () => {
    const [first, second, third] = compileRules(
      [
        { effect: 'deny' },
        { id: 'no-push', effect: 'deny', reason: 'push_forbidden' },
        { effect: 'ask', reason: 'unused' },
      ],
      'profile:ci',
    );
    expect(first).toMatchObject({
      id: 'profile:ci#0',
      layer: 'profile:ci',
      effect: 'deny',
      reason: 'denied_by_rule',
      hasWhen: false,
    });
    expect(second).toMatchObject({ id: 'no-push', reason: 'push_forbidden' });
    expect(third).toMatchObject({ id: 'profile:ci#2', effect: 'ask', reason: undefined });
  });

  test('without `when` matches every input, and with it says so', () => {
    expect(compile({ effect: 'deny' }).matches(judged({}))).toBe(true);
    expect(compile({ effect: 'deny', when: { a: 1 } }).hasWhen).toBe(true);
  });

  test('is frozen, and what the host does to its own object later changes nothing', () => {
    const source = { effect: 'deny' as Effect, tools: ['git'], when: { action: { in: ['push'] } } };
    const rules = compileRules([source], 'registry');
    source.effect = 'allow';
    source.tools[0] = 'other';
    source.when.action.in[0] = 'other';
    expect(Object.isFrozen(rules) && Object.isFrozen(rules[0])).toBe(true);
    expect(rules[0]!.effect).toBe('deny');
    expect(rules[0]!.appliesTo(tool('git'))).toBe(true);
    expect(rules[0]!.matches(judged({ action: 'push' }))).toBe(true);
  });

  test('explicit undefined is the same as absent', () => {
    const rule = compile({
      id: undefined,
      effect: 'deny',
      tools: undefined,
      tags: undefined,
      annotations: undefined,
      source: undefined,
      when: undefined,
      reason: undefined,
    });
    expect(rule).toMatchObject({ id: 'session#0', hasWhen: false, reason: 'denied_by_rule' });
    expect(rule.appliesTo(tool('anything'))).toBe(true);
  });
});

describe('which tools a rule is about', () => {
  test.each<[rule: string, filter: Partial<Rule>, subject: ToolSummary, applies: boolean]>([
    ['no filter is every tool', {}, tool('x'), true],
    ['one name', { tools: 'git' }, tool('git'), true],
    ['one name, another tool', { tools: 'git' }, tool('git2'), false],
    ['any of several globs', { tools: ['fs_*', 'git'] }, tool('fs_read'), true],
    ['a leading dot dodges no star', { tools: '*shell' }, tool('.shell'), true],
    ['a slash dodges no star', { tools: 'host*' }, tool('host/exec'), true],
    ['a line break dodges no star', { tools: 'a*b' }, tool('a\nb'), true],
    ['a line break does not end a glob', { tools: 'git' }, tool('git\nx'), false],
    ['case matters', { tools: 'Git' }, tool('git'), false],
    ['any of the tags', { tags: ['net', 'fs'] }, tool('x', { tags: ['fs'] }), true],
    ['one tag', { tags: 'fs' }, tool('x', { tags: ['net', 'fs'] }), true],
    ['no such tag', { tags: ['net'] }, tool('x', { tags: ['network'] }), false],
    [
      'all of the annotations',
      { annotations: { readOnly: true, openWorld: true } },
      tool('x', { annotations: { readOnly: true } }),
      false,
    ],
    ['an absent annotation is false', { annotations: { readOnly: false } }, tool('x'), true],
    [
      'a given one is not',
      { annotations: { readOnly: false } },
      tool('x', { annotations: { readOnly: true } }),
      false,
    ],
    ['the source', { source: 'mcp:*' }, tool('x', { source: 'mcp:files' }), true],
    ['another source', { source: 'mcp:*' }, tool('x'), false],
    [
      'all filters together',
      { tools: '*', tags: 'fs', source: 'host' },
      tool('x', { tags: ['net'] }),
      false,
    ],
  ])('%s', (_, filter, subject, applies) => {
    expect(compile({ effect: 'deny', ...filter }).appliesTo(subject)).toBe(applies);
  });
});

describe('when: tests of a value', () => {
  test.each<[when: Rule['when'], value: JsonValue, deny: boolean, allow: boolean]>([
    [{ v: 'push' }, 'push', true, true],
    [{ v: 'push' }, 'Push', false, false],
    [{ v: 'push' }, 'push ', false, false],
    [{ v: { equals: 22 } }, 22, true, true],
    [{ v: { equals: null } }, null, true, true],
    [{ v: null }, 'null', false, false],
    [{ v: 'null' }, null, false, false],
    [{ v: false }, false, true, true],
    [{ v: false }, null, false, false],
    [{ v: 0 }, -0, true, true],
    [{ v: '' }, '', true, true],
    [{ v: { in: ['a', 1, null] } }, 1, true, true],
    [{ v: { in: ['a', 1, null] } }, 'b', false, false],
    [{ v: { glob: 'main*' } }, 'main/x\ny', true, true],
    [{ v: { glob: 'main*' } }, ' main', false, false],
    [{ v: { glob: '' } }, '', true, true],
    [{ v: { matches: 'rm\\s+-rf' } }, 'sudo rm  -rf /', true, true],
    [{ v: { matches: '^main$' } }, 'main\n', false, false],
    [{ v: { matches: '.' } }, '', false, false],
    // A change of type does not dodge a deny; an allow wants the type that it names.
    [{ v: 22 }, '22', true, false],
    [{ v: '22' }, 22, true, false],
    [{ v: { in: [22] } }, '22', true, false],
    [{ v: true }, 'true', true, false],
    [{ v: { glob: '2?' } }, 22, true, false],
    [{ v: { matches: 'true|false' } }, true, true, false],
    [{ v: { glob: '*' } }, null, false, false],
    [{ v: { glob: '*' } }, {}, false, false],
  ])('%j of %j: deny %s, allow %s', (when, value, deny, allow) => {
    expect(matches('deny', when, { v: value })).toBe(deny);
    expect(matches('ask', when, { v: value })).toBe(deny);
    expect(matches('allow', when, { v: value })).toBe(allow);
  });

  test('`matches` runs in linear time', () => {
    const rule = compile({ effect: 'deny', when: { v: { matches: '^(a+)+$' } } });
    for (const length of [1_000, 50_000]) {
      const input = judged({ v: `${'a'.repeat(length)}!` });
      // Each character of the text is read once.
      expect(charactersRead(() => expect(rule.matches(input)).toBe(false))).toBeLessThan(
        length + 1_000,
      );
    }
  });
});

describe('when: a text that takes too many steps to compare with a glob', () => {
  const when = { text: { glob: `*?${'a'.repeat(500)}b` } };
  const input = { text: 'a'.repeat(900_000) };
  test.each<[Effect, boolean]>([
    ['deny', true],
    ['ask', true],
    ['allow', false],
  ])('%s: %s', (effect, matching) => {
    expect(matches(effect, when, input)).toBe(matching);
  });
});

describe('properties of `when`', () => {
  const key = fc.constantFrom('a', 'b', '0', '1', '*', 'a.b');
  const scalar = fc.constantFrom<JsonValue>('x', 'y', 1, true, null);
  const { value } = fc.letrec<{ value: JsonValue }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 5, depthSize: 'large' },
      scalar,
      fc.array(tie('value'), { maxLength: 3 }),
      fc.dictionary(key, tie('value'), { maxKeys: 3, noNullPrototype: true }),
    ),
  }));
  const input = fc.dictionary(key, value, { minKeys: 1, maxKeys: 3, noNullPrototype: true });
  const path = fc.array(fc.constantFrom('a', 'b', '0', '1', '*'), { minLength: 1, maxLength: 4 });
  const when = fc
    .record({
      path,
      in: fc.uniqueArray(
        fc.constantFrom<string | number | boolean | null>('x', '1', 1, true, null),
        { minLength: 1, maxLength: 2 },
      ),
    })
    .map((entry) => [entry]);

  /** Wraps values below the root in arrays, where and how `choose` says. */
  function wrapped(
    node: JsonValue,
    choose: () => number,
    root: boolean,
    alone: boolean,
  ): JsonValue {
    const inner = Array.isArray(node)
      ? node.map((item: JsonValue) => wrapped(item, choose, false, alone))
      : typeof node === 'object' && node !== null
        ? Object.fromEntries(
            Object.entries(node).map(([name, item]) => [
              name,
              wrapped(item as JsonValue, choose, false, alone),
            ]),
          )
        : node;
    if (root) return inner;
    switch (choose()) {
      case 1:
        return [inner];
      case 2:
        return [[inner]];
      case 3:
        return alone ? inner : ['other', inner, {}];
      default:
        return inner;
    }
  }
  const choices = fc.infiniteStream(fc.constantFrom(0, 0, 1, 2, 3));

  test('moving values into arrays, at any level, never turns a deny that matches into none', () => {
    fc.assert(
      fc.property(input, when, choices, (source, conditions, stream) => {
        fc.pre(matches('deny', conditions, source));
        const moved = wrapped(source, () => stream.next().value as number, true, false);
        expect(matches('deny', conditions, moved)).toBe(true);
      }),
      { numRuns: 3000 },
    );
  });

  test('an allow never matches more after such a move', () => {
    fc.assert(
      fc.property(input, when, choices, (source, conditions, stream) => {
        fc.pre(!matches('allow', conditions, source));
        // A path that names an index asks for an array: what moves into one may rightly come to
        // stand there.
        const paths = Array.isArray(conditions)
          ? conditions.map(({ path }) => path as readonly string[])
          : Object.keys(conditions).map((path) => path.split('.'));
        fc.pre(!paths.flat().some((segment) => /^\d+$/u.test(segment)));
        const moved = wrapped(source, () => stream.next().value as number, true, true);
        expect(matches('allow', conditions, moved)).toBe(false);
      }),
      { numRuns: 3000 },
    );
  });

  test('what an allow matches, a deny of the same words matches too', () => {
    fc.assert(
      fc.property(input, when, input, (source, conditions, parsed) => {
        if (matches('allow', conditions, source, parsed))
          expect(matches('deny', conditions, source, parsed)).toBe(true);
      }),
      { numRuns: 3000 },
    );
  });

  test('joining keys by dots never turns a deny that matches into none', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom('a', 'b', 'c'), { minLength: 1, maxLength: 5 }),
        fc.infiniteStream(fc.boolean()),
        (names, joins) => {
          const keys = [names[0]!];
          for (const name of names.slice(1)) {
            if (joins.next().value) keys[keys.length - 1] += `.${name}`;
            else keys.push(name);
          }
          const nested = keys.reduceRight<JsonValue>((inner, name) => ({ [name]: inner }), 'x');
          expect(matches('deny', { [names.join('.')]: 'x' }, nested)).toBe(true);
        },
      ),
    );
  });
});

describe('a rule is checked at the door', () => {
  const cyclic: Record<string, unknown> = { effect: 'deny' };
  cyclic.when = cyclic;
  test.each<[rule: string, source: unknown, message: RegExp]>([
    ['no object', null, /session rule 1: Expected an object, got null/],
    ['a list', [], /Expected an object, got an array/],
    ['a function', () => true, /not JSON/],
    [
      'an unknown key',
      { effect: 'deny', tool: 'git' },
      /: unknown field `tool`; did you mean `tools`\?$/,
    ],
    ['no effect', {}, /`effect` to be `allow`, `ask` or `deny`, got undefined/],
    ['another effect', { effect: 'block' }, /`effect`.*got `block` \(string\)/],
    ['a blank id', { effect: 'deny', id: ' ' }, /`id`/],
    ['an id that is no string', { effect: 'deny', id: 7 }, /`id`.*got `7` \(number\)/],
    ['a long id', { effect: 'deny', id: 'x'.repeat(257) }, /`id`/],
    [
      'a reason with capitals',
      { effect: 'deny', reason: 'NotAllowed' },
      /`reason` to be a string that matches \^\[a-z\]\[a-z0-9_\]\*\$, got `NotAllowed`/,
    ],
    ['a reason with a line break', { effect: 'deny', reason: 'a\nb' }, /`reason`/],
    ['an empty reason', { effect: 'deny', reason: '' }, /`reason`/],
    [
      'tools: []',
      { effect: 'deny', tools: [] },
      /`tools` to be left out or a list of at least one, got an array of 0/,
    ],
    ['an empty glob', { effect: 'deny', tools: '' }, /`tools`/],
    ['a glob that is no string', { effect: 'deny', tools: ['git', 7] }, /`tools\[1\]`/],
    ['a regular expression for a glob', { effect: 'deny', tools: /git/ }, /`\/tools`.*RegExp/],
    ['tools as a map', { effect: 'deny', tools: {} }, /`tools`/],
    ['tags: []', { effect: 'deny', tags: [] }, /`tags`/],
    ['a tag that is no string', { effect: 'deny', tags: [null] }, /`tags\[0\]`/],
    ['a list of sources', { effect: 'deny', source: ['host'] }, /`source`/],
    ['an empty source', { effect: 'deny', source: '' }, /`source`/],
    ['no annotation', { effect: 'deny', annotations: {} }, /`annotations`/],
    [
      'an unknown annotation',
      { effect: 'deny', annotations: { readonly: true } },
      /`annotations key`.*got `readonly`/,
    ],
    [
      'an annotation that is no boolean',
      { effect: 'deny', annotations: { readOnly: 'yes' } },
      /`annotations.readOnly` to be a boolean/,
    ],
    ['when as text', { effect: 'deny', when: 'a' }, /`when`/],
    ['an empty map', { effect: 'deny', when: {} }, /`when`/],
    ['an empty list', { effect: 'deny', when: [] }, /`when`/],
    ['an empty path', { effect: 'deny', when: { '': 1 } }, /`when\[""\]`/],
    ['an empty name in a path', { effect: 'deny', when: { 'a..b': 1 } }, /`when\["a..b"\]`/],
    [
      'a path of 65 names',
      { effect: 'deny', when: { [Array(65).fill('a').join('.')]: 1 } },
      /1 to 64/,
    ],
    [
      'no test',
      { effect: 'deny', when: { a: {} } },
      /at least one of equals, in, glob, matches, gt, gte, lt, lte, origin, exists, size, not, any/,
    ],
    [
      'an unknown test',
      { effect: 'deny', when: { a: { like: 'x' } } },
      /`when\["a"\] test`.*got `like`/,
    ],
    [
      'a list for a scalar',
      { effect: 'deny', when: { a: ['x'] } },
      /`when\["a"\]`.*got an array of 1/,
    ],
    ['equals an object', { effect: 'deny', when: { a: { equals: {} } } }, /`when\["a"\].equals`/],
    ['in of no list', { effect: 'deny', when: { a: { in: 'x' } } }, /`when\["a"\].in`/],
    ['in of nothing', { effect: 'deny', when: { a: { in: [] } } }, /`when\["a"\].in`/],
    [
      'in with an object',
      { effect: 'deny', when: { a: { in: ['x', {}] } } },
      /`when\["a"\].in\[1\]`/,
    ],
    [
      'a glob test of no string',
      { effect: 'deny', when: { a: { glob: 1 } } },
      /`when\["a"\].glob`/,
    ],
    [
      'matches of no string',
      { effect: 'deny', when: { a: { matches: 1 } } },
      /`when\["a"\].matches`/,
    ],
    ['an empty pattern', { effect: 'deny', when: { a: { matches: '' } } }, /`when\["a"\].matches`/],
    [
      'a broken pattern',
      { effect: 'deny', when: { a: { matches: '(' } } },
      /`when\["a"\].matches`.*linear time/,
    ],
    [
      'a pattern with lookahead',
      { effect: 'deny', when: { a: { matches: '(?=a)' } } },
      /lookaround/,
    ],
    [
      'a pattern with a backreference',
      { effect: 'deny', when: { a: { matches: '(a)\\1' } } },
      /linear time/,
    ],
    ['NaN', { effect: 'deny', when: { a: Number.NaN } }, /`\/when\/a`.*NaN/],
    ['a BigInt', { effect: 'deny', when: { a: 1n } }, /bigint/],
    ['a list entry that is no object', { effect: 'deny', when: ['a'] }, /`when\[0\]`/],
    ['a list entry without a path', { effect: 'deny', when: [{ equals: 1 }] }, /`when\[0\].path`/],
    [
      'a path as text in the list form',
      { effect: 'deny', when: [{ path: 'a.b', equals: 1 }] },
      /`when\[0\].path`/,
    ],
    [
      'an empty path in the list form',
      { effect: 'deny', when: [{ path: [], equals: 1 }] },
      /`when\[0\].path`/,
    ],
    [
      'an index that is a number',
      { effect: 'deny', when: [{ path: ['a', 0], equals: 1 }] },
      /`when\[0\].path\[1\]`/,
    ],
    ['a list entry without a test', { effect: 'deny', when: [{ path: ['a'] }] }, /`when\[0\]`/],
    ['a cycle', cyclic, /cycle/],
    [
      'a getter that throws',
      {
        get effect() {
          throw new Error('no');
        },
      },
      /`\/effect`.*threw/,
    ],
  ])('refuses %s', (_, source, message) => {
    let thrown: unknown;
    try {
      compileRules([{ effect: 'allow' }, source as Rule], 'session');
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toBeInstanceOf(MisuseError);
    expect(thrown).toMatchObject({ code: 'invalid_rule', message: expect.stringMatching(message) });
    expect((thrown as MisuseError).message).toMatch(/^session rule 1: /);
  });

  test('refuses rules that are no list', () => {
    expect(() => compileRules({} as Rule[], 'registry')).toThrow(
      /Expected registry rules to be an array, got an object/,
    );
  });

  test('is named by its place, and by its id if it has one', () => {
    const when = { a: { gt: '5' } } as never;
    expect(() =>
      compileRules([{ effect: 'ask' }, { id: 'large', effect: 'deny', when }], 'x'),
    ).toThrow(
      'x rule 1 (`large`): Expected `when["a"].gt` to be a finite number, got `5` (string)',
    );
    expect(() => compileRules([{ id: 'large', effect: 'deny', wen: 1 } as never], 'x')).toThrow(
      'x rule 0 (`large`): unknown field `wen`; did you mean `when`?',
    );
  });
});

describe('a rule that was tried', () => {
  test('is used once, under the name of its place', () => {
    const rule: Rule = { effect: 'deny', tools: 'a', when: { x: { matches: '^b+$' } } };
    tryRule(rule, 'registry');
    const [, first] = compileRules([{ effect: 'allow' }, rule], 'registry', 3);
    const [second] = compileRules([rule], 'registry');
    expect([first?.id, second?.id]).toEqual(['registry#4', 'registry#0']);
    for (const one of [first, second]) {
      expect(one).toMatchObject({ effect: 'deny', layer: 'registry', reason: 'denied_by_rule' });
      expect([one?.matches(judged({ x: 'bb' })), one?.matches(judged({ x: 'c' }))]).toEqual([
        true,
        false,
      ]);
    }
    expect(first?.use).not.toBe(second?.use);
  });

  test('keeps its own id, and counts for its own layer only', () => {
    const rule: Rule = { id: 'mine', effect: 'ask' };
    tryRule(rule, 'registry');
    expect(compileRules([rule], 'scope:x')[0]).toMatchObject({ id: 'mine', layer: 'scope:x' });
    expect(compileRules([rule], 'registry')[0]).toMatchObject({ id: 'mine', layer: 'registry' });
  });

  test('that is wrong is refused as in a list', () => {
    expect(() => tryRule({ effect: 'stop' } as never, 'registry')).toThrow(
      'registry rule 0: Expected `effect` to be `allow`, `ask` or `deny`',
    );
  });
});
