/** The tools of a registry, and what is remembered of those that were removed. */

import { RateWindow } from '../../values/limits/rate-window.ts';
import { nameSkeleton } from '../../values/text/names.ts';
import type { PartSet } from '../part.ts';
import type { ToolEntry } from '../tool/tool-entry.ts';
import { type NameTable, SingleNames } from './name-table.ts';

/** Most names of removed tools that are remembered. */
const maxRemoved = 10_000;

export class ToolCatalogue {
  /** For each name, the tool that is shown. */
  readonly tools = new Map<string, ToolEntry>();
  /** All tools. A part may replace it before the first tool is registered. */
  names: NameTable;
  readonly skeletons = new Map<string, string>();
  /** Removed tools with the epoch of their removal, so that older sessions can say so. */
  readonly removed = new Map<string, number>();
  /** Grows with every change to the tools. Public. */
  revision = 0;
  /** Limits the hints for unknown names: searching a thousand names takes a millisecond or two. */
  readonly hints = new RateWindow(100, 1_000);

  constructor(parts: PartSet) {
    this.names = new SingleNames(this.tools, parts);
  }

  /** The registered name that could be confused with this name. */
  twinOf(name: string): string | undefined {
    return this.skeletons.get(nameSkeleton(name));
  }

  /** Remembers a removed tool, forgetting the oldest. */
  rememberRemoved(name: string, epoch: number): void {
    this.removed.delete(name);
    if (this.removed.size >= maxRemoved)
      this.removed.delete(this.removed.keys().next().value as string);
    this.removed.set(name, epoch);
  }
}
