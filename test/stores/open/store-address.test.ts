/** Addresses of stores: what they mean, and what is refused without showing a password. */
import { describe, expect, test } from 'vitest';
import { readStoreAddress } from '../../../src/stores/open/store-address.ts';

const read = (url: string, env: Record<string, string> = {}) =>
  readStoreAddress(url, '/srv/app', env);

describe('an address', () => {
  test.each([
    [
      'postgres://ann:p%40ss@db:5432/app?schema=tools&sslmode=require',
      {
        kind: 'PostgreSQL',
        target: 'postgres://ann:p%40ss@db:5432/app?sslmode=require',
        name: 'tools',
        shown: 'postgres://db:5432/app?schema=tools',
      },
    ],
    [
      'postgresql:///app?host=/run/postgresql',
      { kind: 'PostgreSQL', target: 'postgresql:///app?host=%2Frun%2Fpostgresql', name: undefined },
    ],
    [
      'rediss://:secret@cache:6380/2?prefix=tools:',
      {
        kind: 'Redis',
        target: 'rediss://:secret@cache:6380/2',
        name: 'tools:',
        shown: 'rediss://cache:6380/2?prefix=tools:',
      },
    ],
    [
      'sqlite:./state.db',
      { kind: 'SQLite', target: '/srv/app/state.db', shown: 'sqlite:./state.db' },
    ],
    ['sqlite:state.db', { target: '/srv/app/state.db' }],
    ['sqlite:///var/state.db', { target: '/var/state.db' }],
    ['file:./waiting', { kind: 'folder', target: '/srv/app/waiting' }],
    ['FILE:/var/waiting', { kind: 'folder', target: '/var/waiting' }],
  ])('%s is read', (url, expected) => {
    expect(read(url)).toMatchObject(expected);
  });

  test('may name variables of the environment, or be the name of one', () => {
    const env = { URL: 'redis://:secret@cache', PASSWORD: 'secret' };
    const secret = 'redis://:secret@cache';
    expect(read('URL', env).target).toBe(secret);
    expect(read(`\${URL}`, env).target).toBe(secret);
    expect(read(`redis://:\${PASSWORD}@cache`, env).target).toBe(secret);
  });

  test.each([
    ['mysql://ann:secret@db/app', /expected the address of a store to be `postgres:/],
    ['NO_SECRET', /or the name of an environment variable that has one; `NO_SECRET` is not set$/],
    [`postgres://ann:\${NO_SECRET}@db/\${NO_DATABASE}`, /set `NO_SECRET`, `NO_DATABASE`$/],
    [`postgres://ann:\${secret-x}@db/app`, /expected each \$\{/],
    ['postgres:secret', /to be a URL such as `postgres:/],
    ['postgres://ann:sec/ret@db:x/app', /with `%40` for an `@`/],
    ['redis://:secret@cache:x', /to be a URL such as `redis:/],
    ['redis://:secret@cache/app', /the number of a database, as in `redis:/],
    ['sqlite:', /followed by the path of a file, such as `sqlite:.\/state.db`/],
    ['sqlite::memory:', /path of a file/],
    ['sqlite:./state.db?mode=ro', /without `\?` and `#`/],
    ['file://host/share', /path of a folder/],
  ])('%s is refused', (url, message) => {
    expect(() => read(url)).toThrow(message);
    const texts = [read].map((attempt) => {
      try {
        return String(attempt(url));
      } catch (error) {
        return String(error);
      }
    });
    expect(texts.join('')).not.toMatch(/ann|sec\/ret|:secret/);
  });
});
