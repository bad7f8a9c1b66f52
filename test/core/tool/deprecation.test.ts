/** Deprecated tools still work. Models read of it, and the first call is logged. */
import { describe, expect, it } from 'vitest';
import { type Deprecation, defineTool, HostToolRegistry } from '../../../src/index.ts';

const old = (deprecated: unknown) =>
  defineTool({
    name: 'old',
    description: 'Does it.',
    version: '1.0.0',
    parameters: { type: 'object' },
    deprecated: deprecated as Deprecation,
    handler: () => 'done',
  });

describe('a deprecated tool', () => {
  it('says so in the description that a model reads, in one sentence', () => {
    const shown = (deprecated: Deprecation) => {
      const registry = new HostToolRegistry();
      registry.register(old(deprecated));
      return registry.createSession({ sessionId: 's' }).tool('old')?.description;
    };
    expect(shown({ since: '2.0.0' })).toBe('Does it. Deprecated since 2.0.0.');
    expect(shown({ since: '2.0.0', use: 'new' })).toBe(
      'Does it. Deprecated since 2.0.0; use `new` instead.',
    );
    expect(shown({ since: '2026-05', message: 'It is slow.' })).toBe(
      'Does it. Deprecated since 2026-05: It is slow.',
    );
    expect(shown({ since: '2', use: 'new', message: 'it is slow' })).toBe(
      'Does it. Deprecated since 2; use `new` instead: it is slow.',
    );
  });

  it('is logged at its first call, and never again', async () => {
    const warnings: unknown[] = [];
    const registry = new HostToolRegistry({
      logger: { warn: (...line: unknown[]) => warnings.push(line), error: () => {} },
    });
    const registration = registry.register(old({ since: '2.0.0', use: 'new' }));
    const session = registry.createSession({ sessionId: 's' });
    session.tools();
    await session.explain('old', {});
    expect(warnings).toEqual([]);
    expect((await session.call('old', {})).output).toBe('done');
    await session.call('old', {});
    registration.update({ description: 'Still does it.' });
    await registry.createSession({ sessionId: 't' }).call('old', {});
    expect(warnings).toEqual([
      [
        { tool: 'old', version: '1.0.0', deprecated: { since: '2.0.0', use: 'new' } },
        'the tool `old` was called. Deprecated since 2.0.0; use `new` instead.',
      ],
    ]);
    expect(session.tool('old')?.description).toBe(
      'Still does it. Deprecated since 2.0.0; use `new` instead.',
    );
  });

  it('calls on if the logger throws', async () => {
    const fail = () => {
      throw new Error('no disk');
    };
    const registry = new HostToolRegistry({ logger: { warn: fail, error: fail } });
    registry.register(old({ since: '2.0.0' }));
    const session = registry.createSession({ sessionId: 's' });
    expect((await session.call('old', {})).success).toBe(true);
  });

  it('is marked in the definition, the host tool and the explanation', async () => {
    const definition = old({ since: '2.0.0', use: undefined });
    const registry = new HostToolRegistry();
    registry.scope('plugin:p', { prefix: 'p.' }).register(definition);
    const session = registry.createSession({ sessionId: 's' });
    const deprecated = { since: '2.0.0' };
    expect(definition.deprecated).toEqual(deprecated);
    expect(Object.isFrozen(definition.deprecated)).toBe(true);
    expect(session.tool('p.old')?.deprecated).toEqual(deprecated);
    expect((await session.explain('p.old')).deprecated).toEqual(deprecated);
    expect(old(undefined)).not.toHaveProperty('deprecated');
  });

  it('keeps its fingerprint, so that grants and tokens stay valid', () => {
    expect(old({ since: '2.0.0' }).fingerprint).toBe(old(undefined).fingerprint);
  });

  it('is refused if the mark is malformed', () => {
    const refused = (deprecated: unknown, message: string) =>
      expect(() => old(deprecated)).toThrow(
        expect.objectContaining({ code: 'invalid_definition', message }),
      );
    refused(true, 'Tool `old`: expected `deprecated` to be an object, got `true` (boolean).');
    refused(
      {},
      'Tool `old`: expected `deprecated.since` to be a non-blank string of at most 100 ' +
        'characters, got undefined.',
    );
    refused(
      { since: '1', use: ' ' },
      'Tool `old`: expected `deprecated.use` to be a non-blank string of at most 1024 ' +
        'characters, got ` ` (string).',
    );
    refused(
      { since: '1', msg: 'x' },
      'Tool `old`: unknown field `deprecated.msg`; expected one of `since`, `use`, `message`',
    );
  });
});
