/** `store copy`: what can be moved from one store to another. */
import { join } from 'node:path';
import { type ApprovalsIn, approvalsIn } from '../../parts/durable-approvals/approvals-in.ts';
import { exists, type OpenStore } from '../../stores/open/open-store.ts';
import { fileApprovals } from '../../surfaces/approvals/index.ts';
import { type CopiedLines, copyChains } from '../../surfaces/audit/copy-chains.ts';
import { readSecret, writeSecret } from '../../surfaces/gateway/kept-store.ts';
import { approvalSecret } from '../../surfaces/gateway/secret-files.ts';
import { messageOf } from '../../values/errors/index.ts';
import type { Command } from '../command.ts';
import { CliFault, failure, untilInterrupted, usageFault } from '../fault.ts';
import { printable } from '../printable.ts';
import { addressOf, openAddress } from './open-store.ts';
import { urlNote } from './store-tables.ts';

const notCopied = [
  'what quotas have counted',
  'outcomes of idempotency keys',
  'offloaded outputs',
  'approvals that were answered',
  'sessions of relays and of MCP',
];

export const storeCopy: Command = {
  name: 'store copy',
  usage: 'FROM TO',
  summary: 'copy approvals that wait, and the audit log, from one store to another',
  notes: [
    urlNote.replace('URL is', 'FROM and TO are').replace('an environment variable', 'a variable'),
    'Stop the programs that use the two stores first. What is there already is left alone, so ' +
      'the command can be repeated.',
    `It does not copy ${notCopied.slice(0, 3).join(', ')},`,
    `${notCopied.slice(3).join(', ')}.`,
  ],
  options: [],
  operands: ['FROM', 'TO'],
  async run({ io, screen, operands: [fromUrl = '', toUrl = ''] }) {
    const [fromAddress, toAddress] = [addressOf('FROM', fromUrl, io), addressOf('TO', toUrl, io)];
    if (toAddress.kind === 'folder')
      throw usageFault('`TO`: a folder has no audit log. Copy into a store.');
    if (fromAddress.target === toAddress.target && fromAddress.name === toAddress.name)
      throw usageFault('Expected FROM and TO to be two stores.');
    if (fromAddress.kind === 'folder' && !(await exists(fromAddress.target)))
      throw failure(`There is no folder ${printable(fromAddress.shown)}.`);
    const from = await openAddress(fromAddress, io, screen, 'need');
    let to: OpenStore | undefined;
    try {
      to = await openAddress(toAddress, io, screen);
      const copying = copyAll(from, to);
      const { approvals, audit } = await untilInterrupted(copying, io.signal);
      const counted = (copied: number, present: number, what: string): string =>
        `${copied} ${what}${copied === 1 ? '' : 's'} copied` +
        `${present === 0 ? '' : `, ${present} there already`}`;
      return {
        exit: 0,
        text: [
          `From ${printable(fromAddress.shown)} to ${printable(toAddress.shown)}:`,
          `  ${counted(approvals.copied, approvals.present, 'waiting approval')}`,
          `  ${counted(audit.copied, audit.present, 'line')} of the audit log, in ` +
            `${audit.chains} chain${audit.chains === 1 ? '' : 's'}`,
          `Not copied: ${notCopied.join(', ')}.`,
        ].join('\n'),
        json: { from: fromAddress.shown, to: toAddress.shown, approvals, audit, notCopied },
      };
    } catch (error) {
      throw error instanceof CliFault ? error : failure(`${messageOf(error).replace(/\.$/, '')}.`);
    } finally {
      await to?.close();
      await from.close();
    }
  },
};

interface Counts {
  readonly copied: number;
  readonly present: number;
}

async function copyAll(
  from: OpenStore,
  to: OpenStore,
): Promise<{ readonly approvals: Counts; readonly audit: CopiedLines }> {
  const approvals = await copyApprovals(from, to);
  const audit =
    from.store === undefined || to.store === undefined
      ? { chains: 0, copied: 0, present: 0 }
      : await copyChains(from.store, to.store);
  return { approvals, audit };
}

function inboxOf({ store, folder }: OpenStore): ApprovalsIn {
  return approvalsIn(store ?? fileApprovals({ dir: folder as string }), Date.now);
}

const recordsAtOnce = 20;

async function copyApprovals(from: OpenStore, to: OpenStore): Promise<Counts> {
  const [source, target] = [inboxOf(from), inboxOf(to)];
  let [copied, present] = [0, 0];
  let after: { readonly id: string; readonly expiresAt: number } | undefined;
  for (;;) {
    const page = await source.page({ after, limit: recordsAtOnce });
    for (const given of page) {
      const record = given as Parameters<ApprovalsIn['put']>[0];
      if (copied + present === 0) await copySecret(from, to);
      if ((await target.read(record.id)) === undefined) {
        await target.put(record);
        copied++;
      } else present++;
      after = { id: record.id, expiresAt: record.expiresAt };
    }
    if (page.length < recordsAtOnce) return { copied, present };
  }
}

/**
 * The key of the commands, without which nobody could answer the approvals. Programs have keys of
 * their own.
 */
async function copySecret(
  { store, folder }: OpenStore,
  { store: target }: OpenStore,
): Promise<void> {
  if (target === undefined) return;
  const secret =
    store !== undefined
      ? await readSecret(store)
      : (await exists(join(folder as string, 'secret')))
        ? approvalSecret(folder as string)
        : undefined;
  if (secret === undefined) return;
  await writeSecret(target, secret);
  const other = await readSecret(target);
  if (other === undefined || Buffer.compare(other, secret) !== 0)
    throw new Error(
      'The two stores sign approvals with different keys, so those of one could not be answered ' +
        'in the other. Copy before `host-tools serve` uses the new store, or let the approvals ' +
        'expire',
    );
}
