/** What an agent asks of its client: files and terminals, as governed calls of the session. */
import { isAbsolute } from 'node:path';
import type {
  CreateTerminalRequest,
  ReadTextFileRequest,
  TerminalExitStatus,
  TerminalOutputResponse,
  WriteTextFileRequest,
} from '@agentclientprotocol/sdk/unstable';
import type { ExternalOutcome, ToolSession } from '../../core.ts';
import { inspectSession } from '../../extend.ts';
import { messageOf } from '../../values/errors/index.ts';
import { canonicalJson, copyJson, isJsonObject } from '../../values/json/index.ts';
import { type Place, pathFacts } from '../agents/place.ts';
import type { ClientMethod } from './agent-calls.ts';
import type { Permission } from './call-table.ts';
import type { AcpExit, AcpFiles, AcpTerminalRef, AcpTerminals } from './client-handlers.ts';

/** A terminal that has not been released. */
interface Terminal {
  readonly ref: AcpTerminalRef;
  readonly permission: Permission;
  /** The end of its command was recorded. */
  isOver?: true;
}

/** Most terminals at a time. */
const maxTerminals = 100;

/** The requests of one connection. */
export class ClientRequests {
  readonly #session: ToolSession;
  readonly #place: Place;
  readonly #files: AcpFiles;
  readonly #terminals: AcpTerminals | undefined;
  readonly #open = new Map<string, Terminal>();
  /** Terminals that are being made count too. */
  #starting = 0;
  #isClosed = false;
  /** The requests that a person may be asked about, by what ends them. */
  readonly #asking = new Map<AbortController, string>();

  constructor(
    session: ToolSession,
    place: Place,
    files: AcpFiles,
    terminals: AcpTerminals | undefined,
  ) {
    this.#session = session;
    this.#place = place;
    this.#files = files;
    this.#terminals = terminals;
  }

  async read(params: ReadTextFileRequest, signal: AbortSignal): Promise<{ content: string }> {
    const read = this.#files.readTextFile as NonNullable<AcpFiles['readTextFile']>;
    const path = this.#inside(params.path);
    const permission = await this.#allowed('fs/read_text_file', params, signal);
    const request = { ...params, path };
    const content = await settled(permission, signal, async () => {
      this.#isStill(params.path, path);
      return (await read(request)).content;
    });
    if (typeof content !== 'string') throw refusal('The file could not be read as text.');
    return { content };
  }

  async write(params: WriteTextFileRequest, signal: AbortSignal): Promise<Record<string, never>> {
    const write = this.#files.writeTextFile as NonNullable<AcpFiles['writeTextFile']>;
    const path = this.#inside(params.path);
    const permission = await this.#allowed('fs/write_text_file', params, signal);
    const request = { ...params, path };
    await settled(permission, signal, async () => {
      this.#isStill(params.path, path);
      await write(request);
    });
    return {};
  }

  async create(
    params: CreateTerminalRequest,
    signal: AbortSignal,
  ): Promise<{ terminalId: string }> {
    const terminals = this.#terminals as AcpTerminals;
    const cwd = this.#inside(params.cwd ?? this.#place.cwd);
    if (this.#open.size + this.#starting >= maxTerminals)
      throw refusal(`There are ${maxTerminals} terminals, which the agent should release first.`);
    this.#starting++;
    try {
      const permission = await this.#allowed('terminal/create', params, signal);
      const request = { ...params, cwd };
      try {
        this.#isStill(params.cwd ?? this.#place.cwd, cwd);
        const { terminalId } = await terminals.create(request);
        const ref = { sessionId: params.sessionId, terminalId };
        if (typeof terminalId !== 'string' || this.#open.has(terminalId))
          throw new TypeError('`terminal.create` returned no new `terminalId`.');
        this.#open.set(terminalId, { ref, permission });
        if (this.#isClosed) await this.close();
        return { terminalId };
      } catch (error) {
        await permission.settle({ error: messageOf(error) });
        throw refusal(messageOf(error));
      }
    } finally {
      this.#starting--;
    }
  }

  async output(params: AcpTerminalRef): Promise<TerminalOutputResponse> {
    const terminal = this.#mine(params);
    const read = await (this.#terminals as AcpTerminals).output(terminal.ref);
    if (read.exitStatus) await end(terminal, read.exitStatus);
    const { exitStatus } = read;
    return { ...read, exitStatus: exitStatus ? exitOf(exitStatus) : null };
  }

  async waitForExit(params: AcpTerminalRef): Promise<TerminalExitStatus> {
    const terminal = this.#mine(params);
    const exit = await (this.#terminals as AcpTerminals).waitForExit(terminal.ref);
    await end(terminal, exit);
    return exitOf(exit);
  }

  async kill(params: AcpTerminalRef): Promise<Record<string, never>> {
    const { ref } = this.#mine(params);
    await (this.#terminals as AcpTerminals).kill(ref);
    return {};
  }

  async release(params: AcpTerminalRef): Promise<Record<string, never>> {
    await this.#release(this.#mine(params));
    return {};
  }

  /** Refuses what a person is still asked about in an agent's session. */
  cancel(sessionId: string): void {
    for (const [stop, of] of this.#asking) if (of === sessionId) stop.abort();
  }

  /** Releases the terminals that are left. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all(
      [...this.#open.values()].map((one) => this.#release(one).catch(() => undefined)),
    );
  }

  async #release(terminal: Terminal): Promise<void> {
    this.#open.delete(terminal.ref.terminalId);
    await end(terminal, undefined);
    await (this.#terminals as AcpTerminals).release(terminal.ref);
  }

  /** The terminal of a request, if it is one of the same session of the agent. */
  #mine({ sessionId, terminalId }: AcpTerminalRef): Terminal {
    const terminal = this.#open.get(terminalId);
    if (terminal === undefined || terminal.ref.sessionId !== sessionId)
      throw refusal('There is no such terminal in this session.');
    return terminal;
  }

  /** The path without symbolic links. @throws Refusal outside of the folder */
  #inside(path: string): string {
    if (!isAbsolute(path)) throw refusal('Expected an absolute path.');
    const { inside, path: paths } = pathFacts(path, this.#place);
    if (!inside) throw refusal('The path is outside of the folder of the session.');
    return paths.at(-1) as string;
  }

  /** A link may have been made while a person was asked. @throws Refusal */
  #isStill(path: string, before: string): void {
    if (this.#inside(path) !== before)
      throw refusal('The path leads to another file than when it was asked about.');
  }

  async #allowed(method: ClientMethod, params: object, signal: AbortSignal): Promise<Permission> {
    const { authorizeCall, describeRequest } = await import('./agent-calls.ts');
    const copy = copyJson(params, { maxDepth: 64, maxValues: 100_000 });
    if (!copy.ok || !isJsonObject(copy.value)) throw refusal('Expected an object.');
    const session = this.#session;
    const described = describeRequest(method, copy.value);
    const stop = new AbortController();
    this.#asking.set(stop, String(copy.value.sessionId));
    const permission = await authorizeCall(session, described, this.#place, {
      callId: inspectSession(session).newCallId(),
      signal: AbortSignal.any([signal, stop.signal]),
      surface: { name: 'acp' },
    }).finally(() => this.#asking.delete(stop));
    if (typeof permission === 'string') throw refusal(permission);
    if (!permission.allowed)
      throw refusal(permission.result.error?.message ?? 'The call was refused.');
    if (canonicalJson(permission.input) === canonicalJson(described.input)) return permission;
    const edited = 'Its input was edited, which the protocol cannot carry.';
    await permission.settle({ error: edited });
    throw refusal(edited);
  }
}

/** Runs what is allowed, and ends its call. @returns what the session makes of the output */
async function settled(
  permission: Permission,
  signal: AbortSignal,
  run: () => Promise<unknown>,
): Promise<unknown> {
  let outcome: ExternalOutcome;
  let leave = (): void => {};
  const gone = new Promise<never>((_, reject) => {
    leave = () => reject(new Error('The agent did not wait for the end.'));
    signal.addEventListener('abort', leave, { once: true });
  });
  try {
    signal.throwIfAborted();
    outcome = { output: (await Promise.race([run(), gone])) ?? null };
  } catch (error) {
    outcome = { error: messageOf(error) || 'It failed.' };
  } finally {
    signal.removeEventListener('abort', leave);
  }
  const result = await permission.settle(outcome);
  if (result.success) return result.output;
  throw refusal(result.error.message);
}

/** Records how a command ended, once. @param exit Undefined if that is not known */
async function end(terminal: Terminal, exit: AcpExit | undefined): Promise<void> {
  if (terminal.isOver) return;
  terminal.isOver = true;
  await terminal.permission.settle(
    exit === undefined
      ? { error: 'The terminal was released before its command had ended.' }
      : { output: { ...exitOf(exit) } },
  );
}

function exitOf({ exitCode = null, signal = null }: AcpExit) {
  return { exitCode, signal };
}

/** Why a request is refused, which the agent's model may read. */
export class Refusal extends Error {}

function refusal(reason: string): Refusal {
  return new Refusal(reason.toWellFormed());
}
