import DefaultTheme from 'vitepress/theme';
import { h } from 'vue';
import overview from '../../images/overview.svg';
import './style.css';

const alt =
  'Your functions are on the left, the AI SDK, MCP, OpenAI and the relay on the right. Between ' +
  'them are the gates, which every call passes.';

export default {
  extends: DefaultTheme,
  // On the home page, code comes first and the picture last.
  Layout: () =>
    h(DefaultTheme.Layout, null, {
      'home-features-after': () =>
        h('div', { class: 'vp-doc overview' }, [h('img', { src: overview, alt })]),
    }),
};
