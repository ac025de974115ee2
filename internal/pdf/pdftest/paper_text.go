package pdftest

// paperSource is what Paper sets: # and ## are headings, * is an item of a
// list, [^n] a footnote to the paragraph after it, ! a figure or table, ( an
// equation, [n] an entry of the references, > a line of code; everything else
// is a paragraph. In words | is where a line may break with a hyphen that is
// not part of the word; _ makes a word italic; ^n sets a footnote's mark.
const paperSource = `# 1 Introduction
Rain is easy to hear and hard to mea|sure. A tipping-bucket gauge costs as much as a bi|cycle, stands in one place, and is blocked by the first leaf of au|tumn. Radar sees a whole coast at once, but it looks at drops that are still a kilo|metre above the ground, and it cannot tell driz|zle from sea spray. Be|tween the two lies most of what people want to know: how much rain fell on this street, in this hour.
[^1] The boxes were built from parts that any school can buy; drawings are kept with the data.
This paper asks whether a roof can answer. Sheet-metal roofs are loud in rain, and every|body who has slept under one can tell a shower from a down|pour. We fixed a small micro|phone under each of forty-one roofs in the town of Port Alder, let a cheap com|puter^1 listen to them for a whole year, and com|pared what it heard with fourteen well-kept gauges. The idea is not new. What is new is the length of the record, the number of roofs, and the care taken to learn when the method should _not be trusted.
Our con|tri|bu|tions are three. First, we give a short formula that turns the loud|ness of a roof into milli|metres of rain, with two con|stants that can be found in a single wet after|noon. Sec|ond, we report its error over one year and show that wind, rather than traf|fic or birds, is what spoils it. Third, we pub|lish the re|cord|ings them|selves, cut into seconds so that no con|ver|sa|tion can be under|stood.
The rest of the paper is or|dered as fol|lows. Section 2 looks at what others have done. Section 3 describes the roofs, the boxes and the formula. Section 4 gives the results of one year, Section 5 weighs them, and an ap|pen|dix lists the program that runs in every box, so that the work can be re|peat|ed by anyone with a roof and a free week|end.
# 2 Related work
Sound has been used to count drops since the first hydro|phones were lowered into lakes [1, 2]. Under water the bubbles do the sing|ing, and their pitch gives the size of the drop. On land the pic|ture is less tidy: the roof itself rings, and each roof rings in its own way. Early trials with dust|bin lids [3] found a good re|la|tion in the labo|ra|tory and a poor one out|doors, where wind could not be kept away.
More re|cent|ly, phones [4] and the wipers of cars [5] have been asked the same question. Both are every|where, and both are moved about, switched off and re|placed at will. A roof stays where it is. The study nearest to ours [6] placed nine micro|phones on green|houses for six weeks and reached an error of nine|teen per cent; we com|pare our results with theirs in Section 5.
There is also a long tra|di|tion of people who write down the rain of their own garden. Their note|books reach further back than any other record, and they have a weak|ness that we share: they stand where their owners live, and not where it rains. Methods that correct for this have been worked out with care, and we use the simplest of them, which gives every square kilo|metre the same weight.
# 3 Method
## 3.1 The roofs
Roofs were of|fered by their owners after an article in the local paper. Of sixty-three of|fers we took the forty-one whose metal was bare on the inside, be|cause in|su|la|tion swallows nearly all of the sound. They differ in age, slope and thick|ness, and are spread over eleven square kilo|metres, from the har|bour to the hill farms at four hun|dred metres. Table 1 lists the four groups into which they fall.
!ruled
[^2] Sampling at 8 kHz is enough: above 3.5 kHz we found nothing that helped.
Each box holds one micro|phone, a clock that is set by radio, and a memory card. It wakes ten times a minute, listens for one second,^2 and stores the energy in six bands. The record|ing is then thrown away, except for one second in every hour which is kept for checks. A battery lasts for seven months; we changed them twice, and lost three days of data in doing so.
## 3.2 From sound to rain
A single drop of mass m that falls at speed v gives the roof an im|pulse. Many drops give a noise whose power grows with their number and with the square of their im|pulse. Large drops are there|fore counted far too often, and a simple sum of the power would make every thunder|storm a flood. We take the power in the second band, where the ringing of the sheet matters least, and com|press it:
(R = a (P - P0)^b
Here P0 is the power on a dry day at the same hour, which takes away traf|fic, fans and the sea. The ex|po|nent b was nearly the same for all roofs, 0.62 on aver|age, while the factor a differed by as much as eight to one. That is good news. The ex|po|nent is physics and may be fixed once and for all; only the factor must be learned for each roof.
We tried to do better with all six bands and a small neural network. On the roofs that it had seen during training the error fell by a fifth; on roofs that it had not seen the error rose by half. The formula was kept, for the fol|low|ing reasons:
* it has two numbers, and both can be ex|plained to the owner of the roof;
* it fails slowly, so that a wrong factor gives a wrong amount and not a wrong day;
* it can be com|puted by the box itself, which then need not store any sound at all.
## 3.3 Calibration
Cali|bra|tion needs rain and a bucket. A vol|un|teer sets a straight-sided bucket on the ground beside the house, reads its depth every ten minutes for one after|noon, and types the depths into a form. Six read|ings are enough: with more the factor changes by less than three per cent. Where no vol|un|teer could be found we used the nearest of the fourteen gauges, up to one kilo|metre away, and accepted the larger error which comes with the dis|tance.
Three roofs had to be cali|brated again. One was painted, one lost a sheet in the storm of the ninth of Feb|ru|ary, and one was used by a family of gulls. All three changes were found by the boxes them|selves, because the factor which best ex|plained a week drifted by more than thirty per cent with|out any change at the neigh|bours.
## 3.4 Checks
Every night the cards of ten boxes, chosen in turn, were read over the radio link and checked by a program. It asks three ques|tions. Is the clock right to with|in two seconds? Is the quiet|est minute of the day as quiet as that of the day before? Does the box agree with its three nearest neigh|bours about which hours were wet? A box that failed twice was visited on the next Saturday. There were thirty-eight visits in the year, and in twenty-nine of them some|thing was found: a spider in the micro|phone, a cable chewed by a marten, or a box that had been moved into the shade by a well-meaning owner.
The gauges were checked as well, which is done too seldom. Of the fourteen, two read four per cent too low be|cause of worn bearings, and one had been set up under a lamp post. They were put right in the first month, and that month was left out of the com|par|i|son.
# 4 Results
## 4.1 One year of rain
Over the year the gauges measured 1,148 mm on aver|age, and the roofs 1,131 mm. So close an agree|ment is partly luck: errors in single hours are much larger and cancel out. For hours with more than one milli|metre the median error was 14 per cent, and nine hours in ten were right to with|in 37 per cent. Light rain is harder. Below half a milli|metre in an hour the roofs heard some|thing in only 71 of 100 cases, and gave a false alarm in six.
!figure
The heaviest hour of the year, the evening of the third of Au|gust, shows both sides of the method. All gauges near the har|bour over|flowed or were blocked by hail and re|ported between nothing and 22 mm. The roofs re|ported 31 to 38 mm, and water stood in the cellars of the fish market. No|body can say which number was right, but only one of them would have raised an alarm.
The seasons differ less than we had feared. The error is smallest in spring, when rain is steady and wind is weak, and largest in late autumn. Summer showers, which are short and strong, are measured about as well as the long rains of winter, since the formula has no memory and does not care how long a shower lasts. What does change with the season is the dry-day power: on summer evenings the town is louder by four decibels, and a light shower at that time is lost in the talk from the terraces.
## 4.2 Wind
Wind is the en|e|my. Table 2 gives the error for four classes of wind, taken at the mast on the pier. In calm air the roofs are as good as a cheap gauge. Above fourteen metres per second they are use|less, and no filter that we tried could save them: a rattling gutter has the same bands and the same rhythm as rain.
!unruled
For|tu|nate|ly wind can be heard as well. A gust has a slow swell that rain has not, and a simple test of the change from one second to the next finds nine in ten of the windy hours. We mark these hours as un|known in|stead of guessing. This costs 11 per cent of the year and brings the median error of the rest down to 12 per cent. Users of the data told us that they prefer a gap to a number that might be wrong.
## 4.3 What the boxes missed
Snow is silent. The boxes missed all nine days of it, and the melt|ing that followed was taken for driz|zle. Fog drip, which gives the hill farms up to forty milli|metres in a summer, was missed as well. Hail is heard very well and counted about five times too high; as it melts in any gauge at the same time, we could not find a factor for it and left those hours out.
Birds, feared by all who heard of the pro|ject, did little harm. Their steps are loud but short, and the dry-day power at the same hour takes care of those that come every morning. A more serious problem were solar panels. They cover a grow|ing part of the roofs each year and turn a drum into a table. On the two roofs that got panels during the year the factor tripled within a day.
## 4.4 A map of one evening
What forty-one points are worth is best seen on a map. For the evening of the third of Au|gust we drew the rain of each quarter of an hour, once from the gauges and once from the roofs. The gauges show a shower that comes in from the west, weak|ens over the town and is gone by nine. The roofs show two showers. The first is the one that the gauges saw. The second grew over the valley between the har|bour and the hill, stood still for twenty-five minutes, and fell on no gauge at all.
We asked the people of the valley what they re|mem|bered. Eleven of the fourteen who an|swered told of a second shower, and six gave a time that was right to with|in ten minutes. The stream behind the school rose by 1.2 metres between half past eight and nine, as a mark on the bridge still shows. A radar picture of the same hour has a gap there, because the hill hides the valley from the mast.
# 5 Discussion
## 5.1 Cost
A box costs 38 euros in parts and one hour of work. A net of forty boxes with two years of bat|ter|ies costs less than a single good gauge with its data line. The com|par|i|son is not quite fair, since the net needs people: four vol|un|teers spent two Satur|days on fixing the boxes, and one of us spent most of a winter on an|swer|ing their ques|tions. We be|lieve that this is a strength. The vol|un|teers now read the map every day, and twice they found errors in it before we did.
[^3] See the discussion of Section 4.2: the figure for all hours is 14 per cent.
Com|pared with the green|houses of [6] our error is smaller, twelve per cent^3 against nine|teen, al|though our roofs are of many kinds and theirs were alike. The dif|fer|ence comes almost wholly from wind. Their site was an open plain; ours is a town, where most roofs have a lee side. When we keep only the roofs on the hill, which stand alone, our error is eighteen per cent.
It may be asked whether a larger number of worse gauges would not do as well. We tried this on paper, by adding errors to the gauges until they were as bad as the roofs and by drawing fourteen of them at random. The map of the third of Au|gust was then lost in nine draws of ten. With forty-one such gauges it was found every time. It is the number that counts, and the number is what the roofs make cheap.
## 5.2 Limits
The method needs bare metal, and bare metal is going out of fashion. In Port Alder one roof in nine is suit|able; in the newer quar|ters it is one in thirty. It needs rain that falls on the roof and not along it. It needs a quiet street, or at least a street whose noise keeps its hours. And it needs trust, because a micro|phone under the roof is a micro|phone in the house. We stored no speech, showed this to every owner, and still lost two roofs after a news report about quite an|oth|er de|vice.
Nor can the roofs replace the gauges. They have to be cali|brated against some|thing, and they drift. What they add is place: the rain of the third of Au|gust fell on two square kilo|metres, between two gauges, and with|out the roofs it would not be on any map.
## 5.3 What the town did with it
Since the end of the study the boxes have been kept running by the town itself. The fire bri|gade looks at the map before it sends pumps, and the har|bour closes its lower gate when three roofs on the hill report more than twenty milli|metres in an hour. Both uses were not our idea. The school has made the cali|bra|tion of new roofs a part of its physics lessons, with good results: the factors found by the pupils differ from ours by less than five per cent, and they have found one mistake in our tables.
We have also been asked for the data by an in|sur|ance company, and have an|swered that they are free for any use and that no single roof can be told from them. The owners were asked before. Two of them said no, and their roofs are left out of what is pub|lished, though not out of the means that are given here.
# 6 Conclusion
Roofs can measure rain. Over a year, forty-one roofs gave hourly amounts with a median error of 14 per cent, or 12 per cent when windy hours are left out, at a small part of the cost of gauges. The formula has two numbers, one of which is the same everywhere. Wind sets the limit and can itself be heard. We hope that the record|ings, which are free for any use, will help others to find the filter that we did not.
# Acknowledgements
We thank the owners of forty-three roofs, two of whom changed their minds, the harbour office for the wind, and the gulls for moving on. The work was paid for by the town of Port Alder.
# References
[1] E. Marlowe and P. Sundt. The voice of bubbles under a lake in rain. _Annals _of _Small _Waters, 12(3):201–219, 1987.
[2] H. Iwu. Counting drops by ear. _Notes _on _Acoustics, 4:33–41, 1991.
[3] P. Sundt. Dustbin lids as gauges: a warning. _Notes _on _Acoustics, 9:2–11, 1996.
[4] L. Abara, K. Teo and S. Holm. What phones hear when it rains. In _Proceedings _of _the _Meeting _on _Pocket _Sensors, pages 77–86, 2013.
[5] K. Teo. Wipers, and why they lie. _Roads _and _Weather, 30:118–130, 2015.
[6] M. Duarte and A. Finch. Nine greenhouses: six weeks of rain by sound. _Plain _Weather _Letters, 2:1–14, 2019.
[7] Institute of Coastal Weather. The Port Alder roof recordings, version 2. https://example.org/port-alder/roofs, 2024.
# Appendix A: The program of the box
The program below is the whole of what a box com|putes. It is shown in a language that we hope every reader can fol|low; the boxes run a trans|la|tion of it. The dry-day table is filled during the first four dry days.
>def rain(power, hour, a, b=0.62):
>    quiet = dry_day[hour]
>    if power <= quiet:
>        return 0.0
>    return a * (power - quiet) ** b
>
>for second in listen(every=6):
>    if windy(second):
>        store(None)
>    else:
>        store(rain(second.band[2], hour()))
`

const (
	paperTitle    = "Listening for Rain: Estimating Rainfall from the Sound of Roofs"
	paperHeader   = "Lindqvist, Okafor and Aldana: Listening for Rain"
	paperAbstract = "Rain gauges are few and radar looks at the sky rather than the ground. We fixed micro|phones under forty-one metal roofs of a small town and let them listen for one year. A formula with two con|stants turns the loud|ness of a roof into the amount of rain; one of the con|stants is the same for all roofs, the other is found in a single wet after|noon. Against fourteen gauges the median error of hourly amounts is 14 per cent. Wind is the main source of error. It can be heard as well, and when windy hours are left out the error falls to 12 per cent. The method misses snow and fog drip, and it needs roofs of bare metal. All re|cord|ings are pub|lished."
)

func paperTables() (ruled, unruled [][]string) {
	return [][]string{
			{"Group", "Roofs", "Factor a", "Slope"},
			{"Harbour sheds", "12", "0.31", "8°"},
			{"Town houses", "17", "0.84", "22°"},
			{"Workshops", "7", "0.52", "5°"},
			{"Hill farms", "5", "2.40", "31°"},
		}, [][]string{
			{"Wind (m/s)", "Hours", "Median error", "Worst tenth"},
			{"0 to 4", "3,912", "9 %", "24 %"},
			{"4 to 8", "2,877", "13 %", "35 %"},
			{"8 to 14", "1,410", "27 %", "61 %"},
			{"over 14", "489", "88 %", "210 %"},
		}
}
