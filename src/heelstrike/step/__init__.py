"""One step of a scene, a file for each box of the flowchart of [Sugihara2006], Fig. 4.

    1     kinematics.py         kinematics, inertia, bias
    2     near.py               detect contacts: which bodies may touch
          hulls.py                  which corners of hulls touch
          ridges.py                 where capsules touch between their ends
          detect.py                 depth, normal and levers of each pair
          clearance.py              bodies beside one another: whether shapes are compared
          parted.py                 those that overlap where a run starts
          shapes_near.py            which of them may touch; pair_set.py holds them
          edges_near.py             which of them may touch edges of the ground
          slots.py                  contact points of those that touch
          edges.py                  contact points on edges
          ridge_lines.py            contact points on ridges
          ridge_quarters.py         and which of them count
    3     contact_velocity.py   contact velocities, normals, slip
    4     elastic.py            explicit elastic forces
          slot_contacts.py          boxes 3 and 4 of contacts between bodies
          impact_time.py            impacts at the instant at which points entered
    5-7   coupled.py            coupled problem: contacts as its rows, its impulses as forces
          turning.py                rows against rolling and spinning
          swept.py                  with the rows of joints, by sweeps over the tree
          swept_bodies.py           its bodies, links and slots
          swept_joints.py           its joints
          literal.py                by the literal rule of a paper
          held.py                   as they were, for reverse sweeps
    8     acceleration.py       acceleration, under the torques of
          torque.py                 torques that depend on the acceleration
          limits.py                 torque limits, stops, dry friction where nothing is swept
          limited_joint.py          a joint in their search
          control.py                servo, controller or user
          joints.py                 damping, stops, dry friction
          cones.py                  ranges of ball joints
          springs.py                springs at the joints
          tendons.py                tendons that are linear in the joints
          actuators.py              actuators of the robot's file
          motors.py                 motors: curve, delay, lag and gear friction
          closed_loops.py           equality constraints
          half_step.py              their velocities, half a step ahead
          body_forces.py            forces on bodies that are no contacts
          fluid.py                  drag of a fluid
          push.py                   pushes
    9     integrate.py          integrate
    10    account.py            works, peaks, impulses, memory
          outputs.py                recorded quantities
          elements.py               quantities of one body, link or site
          sensors.py                sensors
          rays.py                   distances along rays
          contact_sums.py           forces summed by body, CoP, ZMP
          slot_outputs.py           contacts between bodies

step.py connects the boxes; plan.py holds all that decides the compiled code; inputs.py the symbols
that all boxes read, state.py, pair.py and evaluation.py what passes through the boxes; surfaces.py,
shape_tables.py, placed_shapes.py and hull_table.py surfaces, shapes and hulls in the program;
freed.py numbers of the robot that are run-time parameters; start_depths.py the program of the
depths in which a run would start; noise.py random numbers. Box 10 is ours.
"""
