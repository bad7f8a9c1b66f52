import { describe, expect, test } from 'vitest';
import { MisuseError } from '../../../src/values/errors/index.ts';
import {
  arrayOf,
  checkSpelling,
  oneOf,
  probablyMeant,
  reading,
  readMembers,
  readOptions,
  required,
  suggestion,
  text,
  wholeNumber,
  withDefault,
  withMethods,
} from '../../../src/values/options/index.ts';

/** The code and the message of a misuse. */
function misuse(run: () => unknown): { code: string; message: string } {
  try {
    run();
  } catch (error) {
    if (!(error instanceof MisuseError)) throw error;
    return { code: error.code, message: error.message };
  }
  return expect.unreachable();
}

describe('options are read', () => {
  test('as their own members alone, each once, into an object that inherits nothing', () => {
    let reads = 0;
    const options = Object.create(
      { b: 'inherited' },
      { a: { enumerable: true, get: () => (reads += 1) } },
    ) as { a?: number; b?: string };
    const read = readMembers('make', options, ['a', 'b']);
    expect([read.a, read.b, Object.getPrototypeOf(read), reads]).toEqual([1, undefined, null, 1]);
    expect(Object.keys(read)).toEqual(['a']);
  });

  test('as none where nothing was given', () => {
    const read = readMembers('make', undefined, ['a']);
    expect([Object.keys(read), Object.getPrototypeOf(read)]).toEqual([[], null]);
  });

  test('with `__proto__` as a name like any other', () => {
    expect(
      misuse(() => readMembers('make', JSON.parse('{"__proto__":1}') as object, ['a'])).message,
    ).toContain('unknown option `__proto__`');
  });

  test.each([
    [null, 'null'],
    ['a', '`a` (string)'],
    [7, '`7` (number)'],
    [['a'], 'an array of 1'],
    [() => {}, 'a function'],
  ])('and refused where %j stands for them', (options, got) => {
    expect(misuse(() => readMembers('make', options as never, ['a']))).toEqual({
      code: 'invalid_option',
      message: `make: expected an object of options, got ${got}.`,
    });
    expect(
      misuse(() =>
        readMembers('rule 0', options as never, ['a'], { code: 'invalid_rule', noun: 'field' }),
      ),
    ).toEqual({
      code: 'invalid_rule',
      message: `rule 0: expected an object of fields, got ${got}.`,
    });
  });

  test('and an unknown name is refused, in the words of the caller', () => {
    expect(misuse(() => readMembers('make', { tool: 1 }, ['tools', 'rules']))).toEqual({
      code: 'invalid_option',
      message: 'make: unknown option `tool`; did you mean `tools`?',
    });
    expect(
      misuse(() =>
        readMembers('rule 0', { zzzz: 1 }, ['tools', 'rules'], {
          code: 'invalid_rule',
          noun: 'field',
        }),
      ),
    ).toEqual({
      code: 'invalid_rule',
      message: 'rule 0: unknown field `zzzz`; expected one of `tools`, `rules`',
    });
  });

  test.each([
    ['q'.repeat(60), 'q'.repeat(60)],
    ['q'.repeat(61), `${'q'.repeat(57)}...`],
  ])('and an unknown name is shown in at most 60 characters', (name, shown) => {
    expect(misuse(() => readMembers('make', { [name]: 1 }, ['a'])).message).toBe(
      `make: unknown option \`${shown}\`; expected \`a\``,
    );
  });
});

describe('for an unknown name is suggested', () => {
  test.each<[unknown: string, known: string[], meant: string | undefined]>([
    ['execute', ['handler', 'name'], 'handler'],
    // What the word stands for is not there, but a similar name is.
    ['params', ['param'], 'param'],
    // Of two things that a word may stand for, the first that is there.
    ['args', ['parameters', 'input'], 'parameters'],
    ['args', ['input'], 'input'],
    ['handlr', ['name', 'handler'], 'handler'],
    ['zzzz', ['name', 'handler'], undefined],
    ['constructor', ['name'], undefined],
  ])('%s of %j: %s', (unknown, known, meant) => {
    expect(probablyMeant(unknown, known)).toBe(meant);
  });

  test('the one that was probably meant, else all of them', () => {
    expect(suggestion('handlr', ['handler', 'name'])).toBe('; did you mean `handler`?');
    expect(suggestion('zzzz', ['handler', 'name'])).toBe('; expected one of `handler`, `name`');
    expect(suggestion('zzzz', new Set(['handler']))).toBe('; expected `handler`');
  });
});

describe('a member of an object with members of its host', () => {
  test('is refused where it was probably meant to be one that the object lacks', () => {
    expect(misuse(() => checkSpelling('policy 0', { chek: () => {} }, ['id', 'check']))).toEqual({
      code: 'invalid_option',
      message: 'policy 0: unknown field `chek`; did you mean `check`?',
    });
    expect(
      misuse(() => checkSpelling('rule 0', { id: 1, chek: 1 }, ['id', 'check'], 'invalid_rule'))
        .code,
    ).toBe('invalid_rule');
  });

  test.each<[what: string, value: object]>([
    ['is known', { id: 1, check: 1 }],
    ['resembles none', { zzzz: 1 }],
    ['resembles one that the object has', { chek: 1, check: 1 }],
    [
      'resembles one that the object inherits',
      Object.assign(Object.create({ check: 1 }), { chek: 1 }),
    ],
    ['is inherited itself', Object.create({ chek: 1 })],
  ])('is left alone where it %s', (_, value) => {
    expect(() => checkSpelling('policy 0', value, ['id', 'check'])).not.toThrow();
  });
});

describe('a table', () => {
  const table = {
    name: required(text(1, 4)),
    size: withDefault(wholeNumber(1), 5),
    mode: oneOf('fast', 'safe'),
  };

  test('gives every option: as it was given, else its default, else undefined', () => {
    expect({ ...readOptions('make', { name: 'a', size: undefined }, table) }).toEqual({
      name: 'a',
      size: 5,
      mode: undefined,
    });
    expect(Object.keys(readOptions('make', { name: 'a' }, table))).toEqual(Object.keys(table));
  });

  test.each<[options: object | undefined, message: string]>([
    [undefined, '`name` to be a string of 1 to 4 characters, got undefined'],
    [{ name: 'abcde' }, '`name` to be a string of 1 to 4 characters, got `abcde` (string)'],
    [{ name: 'a', size: 0 }, '`size` to be a whole number from 1, got `0` (number)'],
    [{ name: 'a', size: null }, '`size` to be a whole number from 1, got null'],
    [{ name: 'a', mode: 'slow' }, '`mode` to be "fast" or "safe", got `slow` (string)'],
  ])('refuses %j', (options, message) => {
    expect(misuse(() => readOptions('make', options, table))).toEqual({
      code: 'invalid_option',
      message: `make: expected ${message}.`,
    });
  });

  test('names members of an option by their path', () => {
    const wording = { code: 'invalid_definition', noun: 'field', path: 'limits' } as const;
    const read = (options: unknown) => () =>
      readOptions('make', options as object, { size: wholeNumber(1) }, wording);
    expect(
      [read(5), read({ size: 0 }), read({ sise: 1 })].map((run) => misuse(run).message),
    ).toEqual([
      'make: expected `limits` to be an object, got `5` (number).',
      'make: expected `limits.size` to be a whole number from 1, got `0` (number).',
      'make: unknown field `limits.sise`; did you mean `size`?',
    ]);
  });

  test('refuses what does not belong to it even where the prototype has it', () => {
    expect(misuse(() => readOptions('make', { toString: 1 }, { name: text() })).message).toBe(
      'make: unknown option `toString`; expected `name`',
    );
    const inherited = Object.create({ size: 9 }) as object;
    expect(readOptions('make', inherited, { size: wholeNumber(1) }).size).toBeUndefined();
  });
});

describe('what throws when it is read', () => {
  const table = { size: wholeNumber(1), store: withMethods<{ get(): void }>(['get']) };
  const fault = new Error('gone');
  const throwing = {
    enumerable: true,
    get: (): never => {
      throw fault;
    },
  };
  const revoked = (): object => {
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    return proxy;
  };

  test.each<[what: string, read: () => unknown, message: string]>([
    [
      'an option',
      () => readOptions('make', Object.defineProperty({}, 'size', throwing), table),
      'make: reading `size` threw: gone.',
    ],
    [
      'a member of its value',
      () => readOptions('make', { store: Object.defineProperty({}, 'get', throwing) }, table),
      'make: reading `store` threw: gone.',
    ],
    [
      'an option within an option',
      () =>
        readOptions('make', Object.defineProperty({}, 'size', throwing), table, { path: 'limits' }),
      'make: reading `limits.size` threw: gone.',
    ],
    [
      'a member',
      () => readMembers('make', Object.defineProperty({}, 'size', throwing), ['size']),
      'make: reading `size` threw: gone.',
    ],
    [
      'what is inside an option',
      () =>
        reading('make', 'size', () => {
          throw fault;
        }),
      'make: reading `size` threw: gone.',
    ],
  ])('is named: %s', (_, read, message) => {
    expect(misuse(read)).toEqual({ code: 'invalid_option', message });
    expect(read).toThrow(expect.objectContaining({ cause: fault }));
  });

  test('is refused as a whole where it is the options themselves', () => {
    const wording = { code: 'invalid_definition', noun: 'field' } as const;
    expect(misuse(() => readOptions('make', revoked(), table)).message).toMatch(
      /^make: reading options threw: /,
    );
    expect(misuse(() => readMembers('make', revoked(), ['a'], wording))).toEqual({
      code: 'invalid_definition',
      message: expect.stringMatching(/^make: reading fields threw: /) as string,
    });
    expect(misuse(() => readOptions('make', revoked(), table, { path: 'limits' })).message).toMatch(
      /^make: reading `limits` threw: /,
    );
  });

  test('is refused where it is the value', () => {
    expect(misuse(() => readOptions('make', { size: revoked() }, table)).message).toBe(
      'make: expected `size` to be a whole number from 1, got an object that cannot be read.',
    );
  });

  test('keeps a misuse as it is', () => {
    const own = new MisuseError('invalid_rule', 'rule 0: no');
    expect(() =>
      reading('make', 'size', () => {
        throw own;
      }),
    ).toThrow(own);
  });
});

describe('a list', () => {
  const table = { names: arrayOf(text(1), 'names') };

  test('is copied, each item read once', () => {
    let reads = 0;
    const given = Object.defineProperty(['a'], 1, {
      enumerable: true,
      get: () => (++reads === 1 ? 'b' : 5),
    });
    const { names } = readOptions('make', { names: given }, table);
    given.push('c');
    expect([names, reads]).toEqual([['a', 'b'], 1]);
  });

  test('has no holes: each is an item that is undefined', () => {
    expect(misuse(() => readOptions('make', { names: new Array(1) }, table)).message).toBe(
      'make: expected `names` to be an array of names, got an array of 1.',
    );
  });
});

test('a default or a requirement on `Object.prototype` does not belong to a table', () => {
  Object.assign(Object.prototype, { absent: 7, required: true });
  try {
    expect(readOptions('make', {}, { size: wholeNumber(1) }).size).toBeUndefined();
  } finally {
    for (const key of ['absent', 'required'])
      delete (Object.prototype as unknown as Record<string, unknown>)[key];
  }
});
