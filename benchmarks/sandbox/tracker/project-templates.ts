import { choose, fill, follow, press, select } from '../kit/pattern.ts';
import { answeredOn, mistaken, moved, opened, stoppedAfter } from '../kit/subgoals.ts';
import { MOSTLY_HELDOUT, MOSTLY_TRAIN } from '../kit/template.ts';
import { emailOf, people, pickOne } from '../kit/words.ts';
import { ROLES } from './data.ts';
import { after, DESTRUCTIVE, others, type TrackerTemplate } from './target.ts';

export const inviteMember: TrackerTemplate = {
  name: 'invite-member',
  difficulty: 'medium',
  splits: MOSTLY_HELDOUT,
  instantiate: (data, random) => {
    const known = data.members.map(({ name }) => name);
    const name = pickOne(
      random,
      people(random, 20).filter((other) => !known.includes(other)),
    );
    const email = emailOf(name, 'partner');
    const role = pickOne(random, ROLES);
    const send = press('Send invitation');
    return {
      instruction: `Invite a new member with the email address ${email} and the role "${role}".`,
      data,
      solved: after(data, 'invite', { email, role }),
      moves: [
        follow('Members'),
        follow('Invite member'),
        fill('Email address', email),
        select('Role', role),
        send,
      ],
      subgoals: [
        opened('members', 'opened the members', 0.15, '/members'),
        opened('form', 'opened the invitation', 0.2, '/members/invite'),
        moved('email', 'entered the email address', 0.2, fill('Email address', email)),
        moved('role', `chose the role ${role}`, 0.2, select('Role', role)),
        moved('sent', 'pressed Send invitation', 0.15, send),
        stoppedAfter(0.1, send),
        mistaken('Remove member'),
      ],
    };
  },
};

export const countMilestone: TrackerTemplate = {
  name: 'count-milestone',
  difficulty: 'easy',
  splits: MOSTLY_TRAIN,
  instantiate: (data, random) => {
    const counted = data.milestones.flatMap((milestone) =>
      (['Open', 'Closed'] as const).map((status) => {
        const issues = data.issues.filter(
          (issue) => issue.milestone === milestone.name && issue.status === status,
        );
        return { milestone, status, count: issues.length };
      }),
    );
    // Nobody should be right by answering with nothing.
    const { milestone, status, count } = pickOne(
      random,
      counted.filter((entry) => entry.count > 0),
    );
    const page = `/milestone/${milestone.id}`;
    const numbers = data.issues.map((_, index) => String(index));
    return {
      instruction: `How many ${status.toLowerCase()} issues does the milestone "${milestone.name}" have?`,
      data,
      solved: data,
      answer: { value: String(count), distractors: others(numbers, String(count)) },
      moves: [follow('Milestones'), follow(milestone.name)],
      subgoals: [
        opened('milestones', 'opened the milestones', 0.2, '/milestones'),
        opened('opened', `opened the milestone ${milestone.name}`, 0.4, page),
        answeredOn(0.4, page),
        ...DESTRUCTIVE,
      ],
    };
  },
};

const GOALS = ['Ship the new billing by autumn', 'Keep the old client alive', 'Collect ideas from support'];

export const editProject: TrackerTemplate = {
  name: 'edit-project',
  difficulty: 'hard',
  splits: MOSTLY_HELDOUT,
  instantiate: (data, random) => {
    const project = pickOne(random, data.projects);
    const page = `/project/${project.name.toLowerCase()}`;
    const description = pickOne(random, GOALS);
    const visibility = pickOne(random, ['Internal', 'Private']);
    const save = press('Save changes');
    return {
      instruction: `Change the settings of the project "${project.name}": the description to "${description}" and the visibility to "${visibility}".`,
      data,
      solved: after(data, 'save-project', { id: String(project.id), description, visibility }),
      moves: [
        follow('Projects'),
        follow(project.name),
        follow('Project settings'),
        fill('Description', description),
        choose(visibility),
        save,
      ],
      subgoals: [
        opened('projects', 'opened the projects', 0.1, '/projects'),
        opened('project', `opened the project ${project.name}`, 0.15, page),
        opened('settings', 'opened its settings', 0.2, `${page}/settings`),
        moved('description', 'entered the description', 0.15, fill('Description', description)),
        moved('visibility', `chose ${visibility}`, 0.15, choose(visibility)),
        moved('saved', 'pressed Save changes', 0.15, save),
        stoppedAfter(0.1, save),
        mistaken('Archive project'),
      ],
    };
  },
};
