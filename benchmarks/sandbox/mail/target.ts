import type { RandomGenerator } from '../../../workflows/method/random.ts';
import { type Move, searchFor } from '../kit/pattern.ts';
import { outcomeOf, type Template } from '../kit/template.ts';
import { PAGE_SIZE } from '../kit/widgets.ts';
import { pickOne } from '../kit/words.ts';
import { mailCommands } from './commands.ts';
import type { MailData, Message } from './data.ts';

export type MailTemplate = Template<MailData>;

export interface Target {
  readonly message: Message;
  readonly page: string;
  readonly find: readonly Move[];
}

/** The message that a task is about: the third instance of a template has it beyond the first page. */
export function target(data: MailData, random: RandomGenerator, index: number): Target {
  const shown = index < 2 ? data.messages.slice(0, PAGE_SIZE) : data.messages.slice(PAGE_SIZE);
  const message = pickOne(random, shown);
  return { message, page: `/message/${message.id}`, find: index < 2 ? [] : [searchFor(message.subject)] };
}

export const after = (data: MailData, command: string, fields: Readonly<Record<string, string>>): MailData =>
  outcomeOf(mailCommands, data, command, fields);
