/** The page of the approvals handler. */
import { render } from 'preact';
import { App } from './app.tsx';
import { openInbox } from './inbox.ts';

render(<App inbox={openInbox()} />, document.getElementById('page') as HTMLElement);
