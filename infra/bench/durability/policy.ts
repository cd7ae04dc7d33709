import type { PolicyFactory } from '../../../models/contract.ts';

/** Takes no time to decide: clicks one control after another. */
export const instantPolicy: PolicyFactory = {
  identity: { provider: 'bench', model: 'instant', revision: '1' },
  open: async () => ({
    identity: { provider: 'bench', model: 'instant', revision: '1' },
    decide: async ({ observation, history }) => {
      const { elements } = observation;
      const buttons = elements.filter(({ role }) => role === 'button' || role === 'link');
      const ref = buttons[(7 * history.length) % Math.max(1, buttons.length)]?.ref;
      return {
        action: ref === undefined ? { tool: 'wait' } : { tool: 'click', ref, kind: 'single' },
        prompt: { elements: elements.length },
        tokenIds: [0],
        logProbs: [0],
        toolCallSpan: [0, 1],
        cost: { usage: { inputTokens: 0, outputTokens: 0 }, costUsd: 0 },
      };
    },
  }),
};
