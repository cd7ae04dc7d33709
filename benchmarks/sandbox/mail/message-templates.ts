import { choose, follow, press, select } from '../kit/pattern.ts';
import { answeredOn, located, mistaken, moved, opened, type Subgoal, stoppedAfter } from '../kit/subgoals.ts';
import { MOSTLY_HELDOUT, MOSTLY_TRAIN } from '../kit/template.ts';
import { pickOne } from '../kit/words.ts';
import { FOLDERS, LABELS, type Message } from './data.ts';
import { after, type MailTemplate, target } from './target.ts';

/** One press in the message's row or on its page. */
function onePress(
  name: string,
  splits: MailTemplate['splits'],
  button: string,
  say: (message: Message) => string,
  mistakes: readonly Subgoal[],
): MailTemplate {
  return {
    name,
    difficulty: 'easy',
    splits,
    instantiate: (data, random, instance) => {
      const { message, page, find } = target(data, random, instance);
      const move = press(button, { near: message.subject, page });
      return {
        instruction: say(message),
        data,
        dialog: instance === 1 ? 'news' : null,
        solved: after(data, button.toLowerCase(), { id: String(message.id) }),
        moves: [...find, move],
        subgoals: [
          located(0.3, message.subject, page),
          moved('pressed', `pressed ${button} for "${message.subject}"`, 0.5, move),
          stoppedAfter(0.2, move),
          ...mistakes,
        ],
      };
    },
  };
}

export const starEmail = onePress(
  'star-email',
  MOSTLY_TRAIN,
  'Star',
  (m) => `Star the email "${m.subject}" from ${m.from}.`,
  [mistaken('Archive'), mistaken('Report spam')],
);

export const archiveEmail = onePress(
  'archive-email',
  MOSTLY_HELDOUT,
  'Archive',
  (m) => `Archive the email "${m.subject}" from ${m.from}.`,
  [mistaken('Archive all'), mistaken('Delete')],
);

export const readFact: MailTemplate = {
  name: 'read-fact',
  difficulty: 'easy',
  splits: MOSTLY_TRAIN,
  instantiate: (data, random, instance) => {
    const { message, page, find } = target(data, random, instance);
    const facts = message.body.filter((line) => line.includes(': ')).map((line) => line.split(': '));
    const [label = '', value = ''] = pickOne(random, facts);
    const others = data.messages.flatMap((m) => m.body.map((line) => line.split(': ')[1] ?? ''));
    const open = follow(message.subject);
    return {
      instruction: `Which ${label.toLowerCase()} does the email "${message.subject}" from ${message.from} name?`,
      data,
      solved: data,
      answer: { value, distractors: others.filter((other) => other !== '' && other !== value) },
      moves: [...find, open],
      subgoals: [
        opened('opened', `opened "${message.subject}"`, 0.5, page),
        answeredOn(0.5, page),
        mistaken('Archive'),
      ],
    };
  },
};

export const deleteEmail: MailTemplate = {
  name: 'delete-email',
  difficulty: 'medium',
  splits: MOSTLY_HELDOUT,
  instantiate: (data, random, instance) => {
    const { message, page, find } = target(data, random, instance);
    const confirm = press('Delete email');
    return {
      instruction: `Delete the email "${message.subject}" from ${message.from}.`,
      data,
      solved: after(data, 'delete', { id: String(message.id) }),
      moves: [...find, follow(message.subject), press('Delete', { page }), confirm],
      subgoals: [
        opened('opened', `opened "${message.subject}"`, 0.3, page),
        moved('asked', 'pressed Delete there', 0.2, press('Delete', { near: message.subject, page })),
        moved('confirmed', 'confirmed the deletion', 0.3, confirm),
        stoppedAfter(0.2, confirm),
        mistaken('Report spam'),
        mistaken('Archive all'),
      ],
    };
  },
};

export const labelEmail: MailTemplate = {
  name: 'label-email',
  difficulty: 'medium',
  splits: MOSTLY_TRAIN,
  instantiate: (data, random, instance) => {
    const { message, page, find } = target(data, random, instance);
    const label = pickOne(random, LABELS);
    const choice = select('Label', label);
    const add = press('Add label');
    return {
      instruction: `Add the label "${label}" to the email "${message.subject}" from ${message.from}.`,
      data,
      solved: after(data, 'add-label', { id: String(message.id), label }),
      moves: [...find, follow(message.subject), choice, add],
      subgoals: [
        opened('opened', `opened "${message.subject}"`, 0.3, page),
        moved('chose', `chose the label ${label}`, 0.3, choice),
        moved('added', 'pressed Add label', 0.2, add),
        stoppedAfter(0.2, add),
        mistaken('Report spam'),
      ],
    };
  },
};

export const moveEmail: MailTemplate = {
  name: 'move-email',
  difficulty: 'medium',
  splits: MOSTLY_HELDOUT,
  instantiate: (data, random, instance) => {
    const { message, page, find } = target(data, random, instance);
    const folder = pickOne(random, FOLDERS);
    const ask = press('Move to folder');
    const confirm = press('Move');
    return {
      instruction: `Move the email "${message.subject}" to the folder "${folder}".`,
      data,
      solved: after(data, 'move', { id: String(message.id), folder }),
      moves: [...find, follow(message.subject), ask, choose(folder), confirm],
      subgoals: [
        opened('opened', `opened "${message.subject}"`, 0.2, page),
        moved('asked', 'pressed Move to folder', 0.2, ask),
        moved('chose', `chose the folder ${folder}`, 0.2, choose(folder)),
        moved('moved', 'pressed Move', 0.2, confirm),
        stoppedAfter(0.2, confirm),
        mistaken('Report spam'),
        mistaken('Delete email'),
      ],
    };
  },
};
