/**
 * Keeps the metadata that was last written for each session, so that it is not built again for
 * every request. The session need not be open on this node.
 */

import { nextTurn } from '../../../values/limits/stretches.ts';
import type { LiveSessions } from '../calls/live-sessions.ts';
import type { SessionDocument } from '../ports/documents.ts';
import { describeSession, type MetadataVersion, type WrittenMetadata } from './metadata.ts';

/** Most characters of text that a node keeps. ETags are kept when texts are dropped. */
const maxTextChars = 32 * 1_024 * 1_024;
/** With more tools than this, other requests get a turn before the metadata is written. */
const manyTools = 50;
/** Most sessions and versions whose ETags a node keeps. */
const maxPages = 10_000;

/** Metadata whose text may have been dropped. */
export interface KeptMetadata extends Pick<WrittenMetadata, 'headers'> {
  readonly written: WrittenMetadata | undefined;
  /** The tools that the session listed, as `LiveSessions.listed` returns them. */
  readonly listing: string;
}

/** Reads the metadata of sessions. */
export interface MetadataCache {
  /**
   * Reads the current metadata. Its text is missing only if `isKnown` says that the client has it.
   */
  read(
    document: SessionDocument,
    version: MetadataVersion,
    isKnown: (etag: string) => boolean,
  ): Promise<KeptMetadata>;
}

/** How much a cache keeps. */
export interface MetadataCacheLimits {
  /** @default 32 Mi characters */
  readonly chars?: number;
  /** @default 10 000 */
  readonly pages?: number;
}

/** The metadata of a session in one version, and the state that it was written from. */
interface Page {
  readonly epoch: number;
  readonly revision: number;
  readonly expiresAt: number;
  kept: Promise<KeptMetadata>;
}

/** The texts that a node keeps, and how long they are. */
interface KeptTexts {
  /** Characters by page. The page that was read longest ago comes first. */
  readonly lengths: Map<Page, number>;
  readonly maxChars: number;
  chars: number;
}

/** Makes the cache of a node. */
export function createMetadataCache(
  live: Pick<LiveSessions, 'describe' | 'epoch' | 'listed'>,
  { chars = maxTextChars, pages: most = maxPages }: MetadataCacheLimits = {},
): MetadataCache {
  // The page that was read longest ago comes first.
  const pages = new Map<string, Page>();
  const texts: KeptTexts = { lengths: new Map(), maxChars: chars, chars: 0 };
  return {
    async read(document, version, isKnown) {
      const key = `${document.code} ${version}`;
      for (;;) {
        const page = pages.get(key);
        if (page === undefined || !isCurrent(page, document, live.epoch)) break;
        pages.delete(key);
        pages.set(key, page);
        const kept = await page.kept;
        const listed = live.listed(document.code) ?? kept.listing;
        if (listed === kept.listing && (kept.written !== undefined || isKnown(kept.headers.ETag))) {
          if (texts.lengths.has(page)) keep(texts, page, charsOf(kept));
          return kept;
        }
        // Another request may be writing it again by now.
        if (pages.get(key) === page) break;
      }
      const { toolsRevision: revision, expiresAt } = document;
      const { epoch } = live;
      const kept = live.describe(document).then(async (described) => {
        // Finding the tools and writing them both take a while if there are many.
        if (described.tools.length > manyTools) await nextTurn();
        const written = await describeSession(
          document,
          described.registered,
          described.tools,
          version,
        );
        return { headers: written.headers, listing: described.listing, written };
      });
      const page: Page = { epoch, revision, expiresAt, kept };
      const before = pages.get(key);
      if (before !== undefined) forget(texts, before);
      pages.delete(key);
      pages.set(key, page);
      for (const [oldest, old] of pages) {
        if (pages.size <= most) break;
        pages.delete(oldest);
        forget(texts, old);
      }
      try {
        const written = await kept;
        if (pages.get(key) === page) keep(texts, page, charsOf(written));
        return written;
      } catch (error) {
        if (pages.get(key) === page) pages.delete(key);
        throw error;
      }
    },
  };
}

function isCurrent(
  page: Page,
  { toolsRevision, expiresAt }: SessionDocument,
  epoch: number,
): boolean {
  return page.epoch === epoch && page.revision === toolsRevision && page.expiresAt === expiresAt;
}

function charsOf({ written }: KeptMetadata): number {
  let chars = 0;
  for (const piece of written?.pieces ?? []) chars += piece.length;
  return chars;
}

function forget(texts: KeptTexts, page: Page): void {
  texts.chars -= texts.lengths.get(page) ?? 0;
  texts.lengths.delete(page);
}

/** Marks a text as the most recently read one, and drops the oldest texts above the limit. */
function keep(texts: KeptTexts, page: Page, length: number): void {
  forget(texts, page);
  texts.lengths.set(page, length);
  texts.chars += length;
  for (const [oldest] of texts.lengths) {
    if (texts.chars <= texts.maxChars) return;
    forget(texts, oldest);
    oldest.kept = oldest.kept.then((kept) => ({ ...kept, written: undefined }));
  }
}
