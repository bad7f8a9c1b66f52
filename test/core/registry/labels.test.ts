/** Labels that name nothing are refused where they are written. */
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { defineTool, HostToolRegistry } from '../../../src/index.ts';

const readMail = defineTool({
  name: 'read_mail',
  description: 'Reads mail.',
  parameters: z.object({ folder: z.string() }),
  outputSchema: z.array(z.object({ id: z.string(), body: z.string() })),
  handler: () => [],
});

function profile(entry: object): () => void {
  const registry = new HostToolRegistry();
  registry.register(readMail);
  return () =>
    registry.defineProfile({ id: 'mail', tools: [{ name: 'read_mail', ...entry } as never] });
}

describe('the labels of a profile', () => {
  test('name fields of the output and of the input', () => {
    expect(
      profile({ origins: { '*.body': 'untrusted' }, roles: { folder: 'free' } }),
    ).not.toThrow();
  });

  test('a field that the output does not have is refused', () => {
    expect(profile({ origins: { '*.bdoy': 'untrusted' } })).toThrow(
      "Profile `mail`, tool `read_mail`: expected `origins` to name fields of the tool's output " +
        'schema, got `*.bdoy`, of which it has no `*.bdoy`.',
    );
  });

  test('a field that the input does not have is refused', () => {
    expect(profile({ roles: { foldr: 'free' } })).toThrow(
      "expected `roles` to name fields of the tool's parameters, got `foldr`",
    );
  });
});

describe('the labels of a schema', () => {
  const register = (parameters: object, outputSchema: object) => () =>
    new HostToolRegistry().register(
      defineTool({
        name: 'read',
        description: 'Reads.',
        parameters: { type: 'object', ...parameters },
        outputSchema: outputSchema as never,
        handler: () => ({}) as never,
      }),
    );

  test('are known words', () => {
    expect(
      register(
        { properties: { to: { 'x-role': 'target' }, note: { role: 'content' } } },
        { properties: { body: { 'x-origin': 'untrusted' }, id: { origin: 'trusted' } } },
      ),
    ).not.toThrow();
  });

  test('an unknown role is refused', () => {
    expect(register({ properties: { to: { 'x-role': 'recipient' } } }, {})).toThrow(
      'Tool `read`, `parameters`: expected `x-role` to be one of `target`, `content`, `free`, ' +
        'got `recipient` (string).',
    );
  });

  test('an unknown origin is refused', () => {
    expect(register({}, { properties: { body: { 'x-origin': 'user' } } })).toThrow(
      'Tool `read`, `outputSchema`: expected `x-origin` to be one of `trusted`, `untrusted`, got ' +
        '`user` (string).',
    );
  });

  test('without `x-`, other words are ignored and a misspelling is refused', () => {
    expect(register({ properties: { to: { role: 'button' } } }, {})).not.toThrow();
    expect(register({ properties: { to: { role: 'tagret' } } }, {})).toThrow(
      'got `tagret` (string)',
    );
  });

  test('data in a schema is no label', () => {
    expect(register({ default: { 'x-role': 'anything' } }, {})).not.toThrow();
  });
});
