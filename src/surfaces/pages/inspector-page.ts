/** The page of the inspector. In the published package this module holds the finished text. */
import { buildPage, type Page } from './build-page.ts';

/** Returns the page. In a checkout, it is built then. */
export function inspectorPage(): Promise<Page> {
  return buildPage({
    name: 'inspector',
    title: 'host-tools inspector',
    packages: ['preact', 'uplot'],
  });
}
