/**
 * The page of the approvals handler. In the published package this module holds the finished text.
 */
import { buildPage, type Page } from './build-page.ts';

/** Returns the page. In a checkout, it is built then. */
export function approvalsPage(): Promise<Page> {
  return buildPage({ name: 'approvals', title: 'Approvals', packages: ['preact'] });
}
