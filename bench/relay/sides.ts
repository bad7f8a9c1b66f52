/**
 * An application that answers every call, and an agent that calls: both speak to a relay and to the
 * bare echo alike.
 */
import { type HttpConnection, httpConnection, messageTo } from './http-connection.ts';
import { base, bearer, type Credentials, expectStatus, requestBody, result } from './session.ts';
import { sseConnection } from './sse-connection.ts';

export interface Side {
  close(): void;
}

/** Posts answers over connections that are kept. */
export interface Answerer extends Side {
  /** @param data the JSON of a `tool-request` */
  answer(data: string): Promise<void>;
}

export function answerer(port: number, { code, sessionToken }: Credentials): Answerer {
  const message = messageTo('POST', `${base}/${code}/response`, bearer(sessionToken));
  const idle: HttpConnection[] = [];
  const all: HttpConnection[] = [];
  return {
    async answer(data) {
      const { requestId } = JSON.parse(data) as { requestId: string };
      let connection = idle.pop();
      if (connection === undefined) {
        connection = await httpConnection(port);
        all.push(connection);
      }
      expectStatus(await connection.send(message(JSON.stringify({ requestId, result }))), 200);
      idle.push(connection);
    },
    close: () => {
      for (const one of all) one.close();
    },
  };
}

/** An application on a stream. */
export async function application(port: number, credentials: Credentials): Promise<Side> {
  const answers = answerer(port, credentials);
  const stream = await sseConnection(
    port,
    `${base}/${credentials.code}/stream`,
    bearer(credentials.sessionToken),
    (event, data) => {
      if (event === 'tool-request') answers.answer(data).catch(fail);
    },
  );
  return {
    close: () => {
      stream.close();
      answers.close();
    },
  };
}

/** An agent, with a connection for each call at a time. */
export interface Agent extends Side {
  call(place: number): Promise<void>;
}

export async function agent(
  port: number,
  { code, agentToken }: Credentials,
  atOnce: number,
): Promise<Agent> {
  const message = messageTo('POST', `${base}/${code}/request`, bearer(agentToken))(requestBody);
  const connections = await Promise.all(Array.from({ length: atOnce }, () => httpConnection(port)));
  return {
    async call(place) {
      const reply = expectStatus(await (connections[place] as HttpConnection).send(message), 200);
      if (!reply.body.includes('"degrees":21'))
        throw new Error(`Expected the result of the application, got ${reply.body}`);
    },
    close: () => {
      for (const one of connections) one.close();
    },
  };
}

/** What fails ends the run: nobody may wait for an answer that does not come. */
export function fail(error: unknown): void {
  setImmediate(() => {
    throw error;
  });
}
