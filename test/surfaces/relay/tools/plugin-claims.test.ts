/** The declarations of an application: which are refused with their path, and which are kept. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readRegistration } from '../../../../src/surfaces/relay/tools/registration-body.ts';

const read = (more: object) =>
  readRegistration({ pluginType: 'custom', availableTools: [1], ...more });

describe('a known field of another type is refused with its path', () => {
  test.each<[object, string, string]>([
    [{ capabilities: {} }, 'capabilities', 'Expected `capabilities` to be an array of at most '],
    [
      { capabilities: ['a', 5] },
      'capabilities[1]',
      'Expected `capabilities[1]` to be an object or a string, got ',
    ],
    [{ environment: 'x' }, 'environment', 'Expected `environment` to be an object, got '],
    [{ environment: [] }, 'environment', 'Expected `environment` to be an object, got '],
    [{ constraints: [] }, 'constraints', 'Expected `constraints` to be an object, got '],
    [{ constraints: 'x' }, 'constraints', 'Expected `constraints` to be an object, got '],
    [
      { constraints: { x: 'y'.repeat(70_000) } },
      'constraints',
      'Expected `constraints` to be JSON of at most 65536 bytes, ',
    ],
    [
      { capabilities: ['a', { type: 3 }] },
      'capabilities[1].type',
      'Expected `capabilities[1].type` to be a string, got ',
    ],
    [
      { capabilities: [{ level: {} }] },
      'capabilities[0].level',
      'Expected `capabilities[0].level` to be a string, got ',
    ],
    [
      { capabilities: [{ resources: 'all' }] },
      'capabilities[0].resources',
      'Expected `capabilities[0].resources` to be an array, got ',
    ],
    [
      { capabilities: [{ permissions: ['read', 7] }] },
      'capabilities[0].permissions[1]',
      'Expected `capabilities[0].permissions[1]` to be a string, got ',
    ],
    [
      { environment: { version: 3 } },
      'environment.version',
      'Expected `environment.version` to be a string, got ',
    ],
    [
      { environment: { features: { 0: 'a' } } },
      'environment.features',
      'Expected `environment.features` to be an array, got ',
    ],
    [
      { environment: { contextInfo: [] } },
      'environment.contextInfo',
      'Expected `environment.contextInfo` to be an object, got ',
    ],
    [
      { environment: { contextInfo: { dataContexts: '2' } } },
      'environment.contextInfo.dataContexts',
      'Expected `environment.contextInfo.dataContexts` to be a number, got ',
    ],
    [
      { environment: { contextInfo: { userPermissions: [true] } } },
      'environment.contextInfo.userPermissions[0]',
      'Expected `environment.contextInfo.userPermissions[0]` to be a string, got ',
    ],
  ])('%j', (given, path, message) => {
    expect(() => read(given)).toThrow(
      expect.objectContaining({
        status: 400,
        error: 'validation_error',
        details: { path },
        message: expect.stringContaining(message),
      }),
    );
  });
});

describe('an unknown field is kept', () => {
  test.each<[object]>([
    [{ capabilities: [{ type: 'world_domination', level: 'godlike', more: { permissions: 1 } }] }],
    [{ environment: { mood: 3, contextInfo: { weather: [1] } } }],
    [{ constraints: { maxCalls: 3, version: {}, permissions: 'x' } }],
    [{ capabilities: [{ type: null, permissions: null }], environment: { contextInfo: null } }],
  ])('%j', (given) => {
    expect(read(given)).toMatchObject(given);
  });

  test('but only own members are checked', () => {
    const inherited = JSON.parse('{"__proto__":{"version":3},"constructor":{"features":1}}');
    expect(JSON.stringify(read({ environment: inherited }).environment)).toBe(
      JSON.stringify(inherited),
    );
  });
});

test('any declared JSON is either read or refused with a known error', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), fc.jsonValue(), (one, environment, constraints) => {
      try {
        read({ capabilities: [one], environment, constraints });
      } catch (error) {
        expect(error).toMatchObject({ status: 400, error: 'validation_error' });
      }
    }),
  );
});
