/**
 * Approvals that outlast the process: where a file keeps the calls for which no person was
 * available.
 */
import { dirname, resolve } from 'node:path';
import type { HostToolRegistry, Overrides, SessionFor, ToolSession } from '../../core.ts';
import type { Store } from '../../extend.ts';
import { keepApprovals } from '../../parts/durable-approvals/durable-state.ts';
import { messageOf } from '../../values/errors/index.ts';
import { canonicalJson } from '../../values/json/index.ts';
import { fileApprovals } from '../approvals/index.ts';
import type { ApprovalsEntry } from '../config/server-format.ts';
import type { KeptStore } from './kept-store.ts';
import { approvalSecret } from './secret-files.ts';

/** How suspended calls are kept. */
export interface KeptApprovals {
  /** Whether they are answered on a page. */
  readonly page: boolean;
}

/** Keeps the approvals of a registry's files. */
export interface ApprovalKeeper {
  /** The settings in effect; undefined if no file has any. */
  readonly kept: KeptApprovals | undefined;
  /** Whether they are kept in the store of the gateway. */
  readonly usesStore: boolean;
  /** Why programs cannot wait for what is kept there; undefined if they can. */
  readonly codeProblem: string | undefined;
  /** Why a file's section cannot be used; undefined if it can. */
  problem(file: string, entry: ApprovalsEntry, again: boolean): string | undefined;
  take(file: string, entry: ApprovalsEntry | undefined): void;
}

/** What a keeper needs. */
export interface KeeperParts {
  readonly registry: HostToolRegistry;
  /** Keeps calls. If false, sections are only checked. */
  readonly keeps: boolean;
  /** Where they are kept if a section names no folder. */
  readonly store: KeptStore | undefined;
  /** The working folder of sessions that are created again. */
  readonly cwd: string;
  note(line: string): void;
  /** Resolves once the servers have had time to start. A call that is answered needs its tool. */
  settled(): Promise<unknown>;
}

interface Opened {
  readonly file: string;
  readonly identity: string;
  readonly secret: Uint8Array;
  readonly store: Store;
  readonly usesStore: boolean;
  readonly kept: KeptApprovals;
}

/** A session that was created to answer one call is closed when it has been idle this long. */
const idleMs = 60_000;

export function createApprovalKeeper(parts: KeeperParts): ApprovalKeeper {
  let opened: Opened | undefined;
  let inEffect: Opened | undefined;
  return {
    get kept() {
      return inEffect?.kept;
    },
    get usesStore() {
      return inEffect?.usesStore === true;
    },
    get codeProblem() {
      const place = opened ?? inEffect;
      return place?.store.lacks === undefined
        ? undefined
        : 'a folder cannot keep the journals of programs that wait for a person: name a store, ' +
            'such as `store: { url: "sqlite:./state.db" }`, and leave `dir` out of `approvals`';
    },
    problem(file, entry, again) {
      if (!parts.keeps) return undefined;
      const identity = canonicalJson(entry);
      if (inEffect?.file === file && inEffect.identity === identity) return undefined;
      if (again)
        return (
          'where approvals are kept is read at the start only; end the command and start it ' +
          'again'
        );
      if (inEffect !== undefined)
        return `the file \`${inEffect.file}\` already says where approvals are kept`;
      try {
        const place = placeOf(file, entry, parts.store);
        if (place === undefined)
          return (
            'expected `dir`, the folder where they are kept, or a store: give the file `store`, ' +
            'or the command `--store URL`'
          );
        const kept = { page: entry.page ?? false };
        opened = { file, identity, ...place, usesStore: entry.dir === undefined, kept };
        return undefined;
      } catch (error) {
        return messageOf(error);
      }
    },
    take(file, entry) {
      if (entry === undefined && inEffect?.file === file)
        parts.note(
          'warning: `approvals` was removed from the file, and stays in effect until the command ' +
            'starts again.',
        );
      if (entry === undefined || opened?.file !== file) return;
      inEffect = opened;
      opened = undefined;
      use(parts, inEffect);
    },
  };
}

/** Undefined if there is no place. */
function placeOf(
  file: string,
  { dir: given }: ApprovalsEntry,
  kept: KeptStore | undefined,
): Pick<Opened, 'secret' | 'store'> | undefined {
  const dir = given === undefined ? kept?.folder : resolve(dirname(file), given);
  if (dir !== undefined) return { store: fileApprovals({ dir }), secret: approvalSecret(dir) };
  return kept?.store === undefined || kept.secret === undefined
    ? undefined
    : { store: kept.store, secret: kept.secret };
}

/** From now on, the registry keeps suspended calls there, including those of earlier processes. */
function use({ registry, cwd, settled }: KeeperParts, { secret, store }: Opened): void {
  const sessionFor: SessionFor = async (record) => {
    const { sessionId, rootSessionId, principal, actor, profile, facts, overrides } = record;
    await settled();
    const root: ToolSession = registry.createSession({
      sessionId: rootSessionId ?? sessionId,
      principal,
      cwd,
      approvalMode: 'suspend',
      idleTimeoutMs: idleMs,
      profile,
      facts,
      overrides: overrides as Overrides | undefined,
    });
    return (actor?.chain ?? []).reduce((outer, link) => outer.delegate(link), root);
  };
  keepApprovals(registry, secret, store, sessionFor);
}
