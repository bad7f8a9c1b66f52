/**
 * Connections for the people for whom calls are made: one for each `Authorization`, since a server
 * binds a session to whoever has opened it. Nobody's call goes over another one's connection.
 */
import { type CredentialNeeds, MisuseError } from '../../../core.ts';
import { connectionFault } from '../../shared/executor-fault.ts';
import { type Connection, type ConnectionClock, createConnection } from './connection.ts';
import type { Link } from './link.ts';
import { type McpHttpConnection, openHttp } from './open-http.ts';
import type { Later } from './storms.ts';

/** Most connections at a time. */
const most = 100;
/** How long an unused connection stays open, in milliseconds. */
const idleMs = 30_000;

export interface PeopleOptions {
  /** Opens a link whose requests have this `Authorization`. */
  readonly open: (authorization: string, signal: AbortSignal) => Promise<Link>;
  readonly clock: ConnectionClock;
  readonly later: Later;
}

export interface People {
  /**
   * Does some work over a connection with this `Authorization`, as `Connection.run` does.
   * @throws (rejects with) ConnectionFault if too many connections are in use
   */
  run<T>(authorization: string, work: (link: Link) => Promise<T>, signal: AbortSignal): Promise<T>;
  /** Ends all of them. Never rejects. */
  close(): Promise<void>;
}

interface Person {
  readonly connection: Connection;
  busy: number;
  stay: () => void;
}

export function createPeople({ open, clock, later }: PeopleOptions): People {
  // The one that was used last comes last.
  const people = new Map<string, Person>();
  let closed = false;
  const end = (authorization: string): Promise<void> | undefined => {
    const person = people.get(authorization);
    people.delete(authorization);
    person?.stay();
    return person?.connection.close();
  };
  const personOf = (authorization: string): Person => {
    if (closed) throw connectionFault('The connection to the MCP server is closed.');
    const known = people.get(authorization);
    if (known !== undefined) {
      people.delete(authorization);
      people.set(authorization, known);
      return known;
    }
    if (people.size >= most) {
      const [idle] = [...people].find(([, { busy }]) => busy === 0) ?? [];
      if (idle === undefined)
        throw connectionFault(
          `${most} people use the MCP server at the same time. Try again later. The call did not ` +
            'run.',
        );
      void end(idle);
    }
    const connection = createConnection({
      open: (signal) => open(authorization, signal),
      greet: async () => {},
      clock,
      reopen: true,
    });
    const person = { connection, busy: 0, stay: () => {} };
    people.set(authorization, person);
    return person;
  };
  return {
    async run(authorization, work, signal) {
      const person = personOf(authorization);
      person.stay();
      person.busy++;
      try {
        return await person.connection.run(work, signal);
      } finally {
        person.busy--;
        if (person.busy === 0 && people.get(authorization) === person)
          person.stay = later(() => void end(authorization), idleMs);
      }
    },
    async close() {
      closed = true;
      await Promise.all([...people.keys()].map(end));
    },
  };
}

/** What the tools of an import need of the principal, and its connections. */
export interface Needs {
  readonly credentials: CredentialNeeds;
  readonly people: People;
}

/** @throws MisuseError if the server has no address */
export function needsOf(
  connection: unknown,
  credentials: CredentialNeeds | undefined,
  {
    handshakeMs,
    ...ports
  }: Pick<PeopleOptions, 'clock' | 'later'> & { readonly handshakeMs: number },
): Needs | undefined {
  if (credentials === undefined) return undefined;
  const { url, headers = {} } = (connection ?? {}) as Partial<McpHttpConnection>;
  if (url === undefined)
    throw new MisuseError(
      'invalid_option',
      'importMcpTools: expected `credentials` only with `{ url }`, since the token goes with ' +
        'requests over HTTP.',
    );
  const own = Object.entries(headers).filter(([name]) => name.toLowerCase() !== 'authorization');
  const open: PeopleOptions['open'] = (authorization, signal) =>
    openHttp(
      { url, headers: { ...Object.fromEntries(own), authorization } },
      { handshakeMs, signal, toolsChanged() {} },
    );
  return { credentials, people: createPeople({ open, ...ports }) };
}
