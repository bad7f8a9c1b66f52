/** The inspector. */
import { render } from 'preact';
import { takeToken } from '../parts/server.ts';
import { App } from './app.tsx';
import { openStore } from './store.ts';

render(<App store={openStore(takeToken())} />, document.getElementById('page') as HTMLElement);
