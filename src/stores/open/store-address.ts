/** The address of a store, as files and command lines write it. It may have a password. */
import { resolve } from 'node:path';
import { MisuseError } from '../../core.ts';
import { fillVariables } from '../../values/text/fill-variables.ts';

/** Where a store is. */
export interface StoreAddress {
  readonly kind: 'PostgreSQL' | 'Redis' | 'SQLite' | 'folder';
  /** The address of a server without what is meant for the store, or an absolute path. */
  readonly target: string;
  /** The schema or the prefix, if the address has one. */
  readonly name: string | undefined;
  /** The address for people: without user, password and settings. */
  readonly shown: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

const forms =
  '`postgres://host/database?schema=…`, `redis://host?prefix=…`, `sqlite:./state.db` or ' +
  '`file:./folder`';

const servers: ReadonlyMap<string, readonly [kind: 'PostgreSQL' | 'Redis', parameter: string]> =
  new Map([
    ['postgres:', ['PostgreSQL', 'schema']],
    ['postgresql:', ['PostgreSQL', 'schema']],
    ['redis:', ['Redis', 'prefix']],
    ['rediss:', ['Redis', 'prefix']],
  ]);

/**
 * Reads an address. `${NAME}` stands for a variable of the environment, and so does the address of
 * which only `NAME` is given.
 * @param folder from which paths start
 * @throws MisuseError `invalid_option`, whose message shows nothing of the address
 */
export function readStoreAddress(given: string, folder: string, env: Environment): StoreAddress {
  const whole = /^[A-Za-z_]\w*$/.test(given) ? `\${${given}}` : given;
  const { values, missing } = fillVariables({ url: whole }, env);
  if (missing.length > 0 && whole !== given)
    throw wrong(
      `expected the address of a store (${forms}), or the name of an environment variable that ` +
        `has one; \`${given.slice(0, 60)}\` is not set`,
    );
  if (missing.length > 0)
    throw wrong(
      'expected the environment variables that the address of a store names to be set; set ' +
        missing.map((name) => `\`${name}\``).join(', '),
    );
  const { url = '' } = values;
  if (whole.replace(/\$\{[A-Za-z_]\w*\}/g, '').includes('${'))
    throw wrong(
      `expected each \${ in the address of a store to begin a variable, as \${NAME} does`,
    );
  const [, scheme = '', rest = ''] = /^([a-z]+:)(.*)$/is.exec(url) ?? [];
  const known = servers.get(scheme.toLowerCase());
  if (known !== undefined) return serverAddress(url, ...known);
  const kind = { 'sqlite:': 'SQLite', 'file:': 'folder' }[scheme.toLowerCase()];
  if (kind === undefined) throw wrong(`expected the address of a store to be ${forms}`);
  return pathAddress(kind as 'SQLite' | 'folder', scheme, rest, folder);
}

function serverAddress(
  text: string,
  kind: 'PostgreSQL' | 'Redis',
  parameter: string,
): StoreAddress {
  if (!URL.canParse(text) || !/^[a-z]+:\/\//i.test(text))
    throw wrong(
      `expected the address of a store on ${kind} to be a URL such as ` +
        `${kind === 'Redis' ? '`redis://127.0.0.1:6379`' : '`postgres://127.0.0.1:5432/app`'}, ` +
        'with `%40` for an `@` in a password',
    );
  const url = new URL(text);
  if (kind === 'Redis' && !/^\/?\d{0,9}$/.test(url.pathname))
    throw wrong(
      'expected the path of an address of Redis to be the number of a database, as in ' +
        '`redis://127.0.0.1:6379/0`',
    );
  const name = url.searchParams.get(parameter) ?? undefined;
  url.searchParams.delete(parameter);
  const { protocol, host, pathname } = url;
  const query = name === undefined ? '' : `?${parameter}=${name}`;
  return { kind, target: url.href, name, shown: `${protocol}//${host}${pathname}${query}` };
}

function pathAddress(
  kind: 'SQLite' | 'folder',
  scheme: string,
  rest: string,
  folder: string,
): StoreAddress {
  const what = kind === 'SQLite' ? 'a file' : 'a folder';
  const path = rest.replace(/^\/\/(?=\/)/, '');
  if (path === '' || path.startsWith('//') || path === ':memory:' || /[?#\0]/.test(path))
    throw wrong(
      `expected \`${scheme}\` to be followed by the path of ${what}, such as ` +
        `\`${scheme}./state${kind === 'SQLite' ? '.db' : ''}\` or \`${scheme}/srv/state` +
        `${kind === 'SQLite' ? '.db' : ''}\`, without \`?\` and \`#\``,
    );
  const target = resolve(folder, path);
  return { kind, target, name: undefined, shown: `${scheme}${path}` };
}

function wrong(message: string): MisuseError {
  return new MisuseError('invalid_option', message);
}
