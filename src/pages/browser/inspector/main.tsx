/** The inspector. */
import { render } from 'preact';

render(<h1>host-tools inspector</h1>, document.getElementById('page') as HTMLElement);
