import type { DeltaChannel } from '../../conversation/answer.ts';
import type { ReasoningPart } from '../../conversation/conversation.ts';

/** What is shown of reasoning in a format that has one text for it. */
export function shownReasoning({ text, summaries = [] }: ReasoningPart): string {
  return text || summaries.join('\n\n');
}

/** Tells what stands between two summaries of one part when their pieces are written one after the other. */
export function createSummarySeparator(): (index: number, channel: DeltaChannel) => string {
  const lastSummaries = new Map<number, number>();
  return (index, channel) => {
    if (typeof channel !== 'object') return '';
    const last = lastSummaries.get(index);
    lastSummaries.set(index, channel.summary);
    return last === undefined || last === channel.summary ? '' : '\n\n';
  };
}
