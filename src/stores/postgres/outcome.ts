/** The answers of the functions, and what they mean. */
import type { Store } from '../../api/store.ts';
import { decodeText } from '../shared/escaped-text.ts';

interface FoundDocument {
  readonly value: string;
  readonly version: number;
  readonly left: number | null;
}

interface FoundUse {
  readonly used: string;
  readonly wait: number | null;
}

interface FoundListed {
  readonly name: string;
  readonly value: string;
  readonly version: number;
  readonly ends: number | null;
  readonly left: number | null;
}

/** The answer of a function, as it is in JSON. */
type Answer =
  | { readonly results: readonly unknown[]; readonly refused?: undefined }
  | {
      readonly refused: number;
      readonly gone: boolean;
      readonly wait: number;
      readonly found: FoundDocument | null;
      readonly uses: readonly FoundUse[];
    };

/** The outcome of a step. */
export function outcomeOf(operations: readonly Store.Operation[], text: string): Store.Outcome {
  const answer = JSON.parse(text) as Answer;
  if (answer.refused === undefined) {
    const results: unknown = answer.results.map((one, index) => resultOf(operations[index], one));
    return { results: results as Store.Applied['results'] };
  }
  const { refused, gone, wait, found, uses } = answer;
  const op = operations[refused]?.op;
  return {
    refused,
    gone,
    retryAfterMs: wait,
    ...((op === 'set' || op === 'touch' || op === 'delete') && { found: documentOf(found) }),
    ...(op === 'add' && { uses: uses.map(useOf) }),
  };
}

function resultOf(operation: Store.Operation | undefined, found: unknown): unknown {
  switch (operation?.op) {
    case 'get':
      return (found as readonly (FoundDocument | null)[]).map(documentOf);
    case 'list':
      return (found as readonly FoundListed[]).map(
        ({ name, ends, ...document }): Store.Listed => ({
          ...(documentOf(document) as Store.Document),
          key: decodeText(name),
          expiresAt: ends,
        }),
      );
    case 'append': {
      const { id, dropped } = found as Store.Results['append'];
      return { id, dropped: dropped.map(decodeText) };
    }
    case 'read': {
      const { entries, first, last } = found as Store.Page;
      return {
        entries: entries.map(({ id, value }) => ({ id, value: decodeText(value) })),
        first,
        last,
      };
    }
    case 'sum':
      return useOf(found as FoundUse);
    default:
      return found;
  }
}

function documentOf(found: FoundDocument | null): Store.Document | undefined {
  if (found === null) return undefined;
  const { value, version, left } = found;
  return { value: decodeText(value), version, remainingMs: left ?? undefined };
}

function useOf({ used, wait }: FoundUse): Store.Use {
  return { used: BigInt(used), retryAfterMs: wait ?? undefined };
}
