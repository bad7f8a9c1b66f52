/** The operations of a document, each with its id. */
import type { JsonObject } from '../../values/json/index.ts';
import { cleanLine } from '../shared/outside-text.ts';
import { membersOf, quoted, refusal, resolved } from './references.ts';

/** One operation. */
export interface Operation {
  /** Its `operationId`, or a name made of its method and path. */
  readonly id: string;
  /** In upper case. */
  readonly method: string;
  readonly path: string;
  /** The members of the path that hold for all its operations. */
  readonly shared: JsonObject;
  readonly node: JsonObject;
}

/** An operation that was refused. */
export interface OpenApiFailure {
  /** Its id, cleaned and shortened; the method and the path, if there is none. */
  readonly name: string;
  /** Why, in one line. */
  readonly reason: string;
}

/** Methods that are supported, as documents write them. */
const methods = ['get', 'head', 'post', 'put', 'patch', 'delete'];
const others = ['options', 'trace', 'query'];

/** Most operations of a document. */
const maxOperations = 5_000;

/**
 * Lists the operations in the order of the document.
 * @param failed gets those that are refused
 * @throws MisuseError for a document that has none, or too many
 */
export function operationsOf(document: JsonObject, failed: OpenApiFailure[]): readonly Operation[] {
  const found: Operation[] = [];
  const paths = Object.entries(membersOf(document.paths));
  for (const [path, item] of paths) {
    if (path.startsWith('x-')) continue;
    try {
      const shared = resolved(document, item, `the path ${quoted(path)}`);
      for (const method of [...methods, ...others]) {
        const node = shared[method];
        if (node === undefined || !Object.hasOwn(shared, method)) continue;
        const given = resolved(document, node, `the operation of ${quoted(path)}`);
        const id = idOf(given, method, path);
        if (others.includes(method))
          failed.push({
            name: cleanLine(id, 200),
            reason: `The method ${method.toUpperCase()} is not supported.`,
          });
        else found.push({ id, method: method.toUpperCase(), path, shared, node: given });
      }
    } catch (error) {
      failed.push({ name: cleanLine(path, 200), reason: (error as Error).message });
    }
    if (found.length > maxOperations)
      throw refusal(`The document has more than ${maxOperations} operations.`);
  }
  return found;
}

function idOf({ operationId }: JsonObject, method: string, path: string): string {
  if (typeof operationId === 'string' && operationId.trim() !== '') return operationId.trim();
  const words = path.replace(/[^A-Za-z0-9]+/g, '_').replace(/^_|_$/g, '');
  return words === '' ? method : `${method}_${words}`;
}

/**
 * Checks that a path leads below the server, and that each placeholder has its parameter.
 * @throws MisuseError
 */
export function checkPath(path: string, parameters: ReadonlySet<string>): void {
  const placeholders = new Set<string>();
  const filled = path.replace(/\{([^{}]+)\}/g, (_, name: string) => {
    placeholders.add(name);
    return 'x';
  });
  const base = 'http://server.invalid';
  const url = URL.canParse(base + filled) ? new URL(base + filled) : undefined;
  if (!path.startsWith('/') || url?.origin !== base || url.pathname !== filled)
    throw refusal(`The path ${quoted(path)} is not a plain path.`);
  for (const name of placeholders)
    if (!parameters.has(name))
      throw refusal(`Nothing describes ${quoted(`{${name}}`)} of its path.`);
  for (const name of parameters)
    if (!placeholders.has(name))
      throw refusal(`Its path has no place for the parameter ${quoted(name)}.`);
}
